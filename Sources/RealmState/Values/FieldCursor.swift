import Changesets

/// A place in an object and its value: begins at a field and goes inwards, one step at a time.
struct FieldCursor {
    private let schema: Schema
    private(set) var place: RecordedPlace
    /// The value there; nil where the place's content is absent.
    private(set) var value: Value?
    /// Why a dictionary on the way may not have the key that was gone by; nil if all may.
    private(set) var keyFault: String?

    /// - Throws: `noSuchField`.
    init(
        _ field: ByteString, of object: StoredObject, _ table: TableSchema, _ schema: Schema
    ) throws(RecordingError) {
        guard let column = table.column(field) else {
            throw RecordingError(
                .noSuchField, table.name, field, "the class has no such field, or it is its primary key")
        }
        self.schema = schema
        let value = object[column]
        self.value = value
        place = RecordedPlace(
            kind: RecordedPlace.Kind(column.collection), element: column.element, content: .init(value),
            owner: table.name, field: field, depth: column.collection == .single ? 0 : 1)
    }

    /// Goes one step further in: to a slot of a list, up to the one behind its last, to an entry of a dictionary, whether
    /// or not there is one, or to a field of an embedded object.
    /// - Throws: `outOfRange`, `wrongType` if there is nothing that such a step leads into, or `noSuchField`.
    mutating func step(_ step: PathStep) throws(RecordingError) {
        let isInColumn = place.kind.collection != .single
        let depth = isInColumn ? place.depth : place.depth + 1
        switch (value, step) {
        case (.embedded(let object), .key(let field)):
            guard let table = schema.embeddedTarget(of: place.element) else { throw noWayOn() }
            let fault = keyFault
            self = try FieldCursor(field, of: object, table, schema)
            keyFault = fault
        case (.list(let items), .index(let index)):
            guard index >= 0, index <= items.count else { throw outOfRange(index, items.count) }
            enter(index < items.count ? items[index] : nil, .slot, listCount: items.count, depth: depth)
        case (.dictionary(let entries), .key(let key)):
            keyFault = keyFault ?? key.dictionaryKeyFault
            enter(entries[key], .entry, depth: depth)
        case (nil, _) where place.kind == .slot: throw outOfRange(place.listCount, place.listCount)
        case (nil, _): throw wrongType("the dictionary has no such key")
        default: throw noWayOn()
        }
    }

    private mutating func enter(_ value: Value?, _ kind: RecordedPlace.Kind, listCount: Int = 0, depth: Int) {
        self.value = value
        place.kind = kind
        place.content = value.map(RecordedPlace.Content.init) ?? .absent
        place.listCount = listCount
        place.depth = depth
    }

    /// The value at an address; nil where nothing is. That of a field of a top-level object is found without a cursor.
    static func value(at address: FieldAddress, in state: RealmState) -> Value? {
        guard address.path.isEmpty else { return try? state.cursor(at: address).value }
        guard let table = state.schema.table(address.object.className), let column = table.column(address.field) else {
            return nil
        }
        return state.objects[ObjectReference(table: table.id, key: address.object.key)]?[column]
    }

    private func noWayOn() -> RecordingError {
        wrongType("the path goes on, but there is no such collection or embedded object")
    }

    private func wrongType(_ message: String) -> RecordingError {
        RecordingError(.wrongType, place.owner, place.field, message)
    }

    private func outOfRange(_ index: Int, _ count: Int) -> RecordingError {
        RecordingError(.outOfRange, place.owner, place.field, "index \(index), the list has \(count) elements")
    }
}

extension RealmState {
    /// Follows an address to its end.
    /// - Throws: as `FieldCursor`, and `noSuchClass` or `noSuchObject`.
    func cursor(at address: FieldAddress) throws(RecordingError) -> FieldCursor {
        let className = address.object.className
        guard let table = schema.table(className) else {
            throw RecordingError(.noSuchClass, className, nil, "the schema has no such class")
        }
        guard let object = object(address.object) else {
            throw RecordingError(.noSuchObject, className, nil, "there is no object with this primary key")
        }
        var cursor = try FieldCursor(address.field, of: object, table, schema)
        for step in address.path { try cursor.step(step) }
        return cursor
    }

    /// The value at an address: of a field, a slot, an entry, or a field of an embedded object. Nil where nothing is.
    package func value(at address: FieldAddress) -> Value? { FieldCursor.value(at: address, in: self) }
}
