import Changesets
import ExtendedJSON
import RealmState

/// The end of a dotted path in an object.
struct WritePlace {
    enum Kind: Equatable {
        /// A property that is a single value, of the object or of an embedded one.
        case property(isRequired: Bool)
        /// A property that is a collection.
        case collection
        /// A slot of a list, or the one behind its last.
        case slot
        /// An entry of a dictionary, whether or not there is one.
        case entry
    }

    var address: FieldAddress
    var kind: Kind
    /// The type of the property, or of the collection's elements.
    var element: ElementType
    /// The whole property that the place is; nil for slots and entries.
    var column: ColumnSchema?
    /// Nil if there is no such slot or entry.
    var value: Value?

    /// Whether nothing is there.
    var isEmpty: Bool { value == nil || value == .null }
}

extension WriteRecorder {
    /// Follows a path through an object as it is now.
    ///
    /// - Parameter creating: whether embedded objects and entries on the way are made where there are none.
    /// - Returns: nil if something on the way is not there.
    mutating func place(
        _ path: DocumentPath, in address: ObjectAddress, _ table: TableSchema, creating: Bool
    ) throws(DocumentError) -> WritePlace? {
        guard let object = try object(address) else { return nil }
        var place = try property(path.first, of: object, table, at: FieldAddress(address, path.first))
        for name in path.elements.dropFirst() {
            guard let next = try step(from: place, to: name, creating) else { return nil }
            place = next
        }
        return place
    }

    private func property(
        _ name: ByteString, of object: StoredObject, _ table: TableSchema, at address: FieldAddress
    ) throws(DocumentError) -> WritePlace {
        guard let column = table.column(name) else { throw mapping.unknownField(name, table) }
        return WritePlace(
            address: address,
            kind: column.collection == .single ? .property(isRequired: mapping.isRequired(column)) : .collection,
            element: column.element, column: column, value: object[column])
    }

    private mutating func step(
        from place: WritePlace, to name: ByteString, _ creating: Bool
    ) throws(DocumentError) -> WritePlace? {
        let inner = place.address.appending(.key(name))
        switch place.value {
        case .list(let items)?:
            guard let index = name.listIndex else {
                throw DocumentError(
                    .wrongType, "expected an index of the list before it, came \"\(name.string.shortened)\"")
            }
            guard index <= items.count else {
                throw DocumentError(.outOfRange, "expected an index up to \(items.count), came \(index)")
            }
            return WritePlace(
                address: place.address.appending(.index(index)), kind: .slot, element: place.element,
                value: index < items.count ? items[index] : nil)
        case .dictionary(let entries)?:
            return WritePlace(address: inner, kind: .entry, element: place.element, value: entries[name])
        case .embedded(let object)?:
            guard let table = mapping.schema.embeddedTarget(of: place.element) else { return nil }
            return try property(name, of: object, table, at: inner)
        case .null?, nil:
            guard creating else { return nil }
            if let table = mapping.schema.embeddedTarget(of: place.element) {
                let others = table.columns.first { $0.name != name && mapping.isRequired($0) }
                if let others { throw mapping.missingField(others, table) }
                try write(.embedded(StoredObject()), at: place)
                return try property(name, of: StoredObject(), table, at: inner)
            }
            guard place.element.isMixed else { throw noWayOn(place, name) }
            try write(.dictionary([:]), at: place)
            return WritePlace(address: inner, kind: .entry, element: .mixed, value: nil)
        default: throw noWayOn(place, name)
        }
    }

    private func noWayOn(_ place: WritePlace, _ name: ByteString) -> DocumentError {
        let shown = name.string.shortened
        if case .link? = place.value {
            return DocumentError(
                .wrongType, "\"\(shown)\" follows a link: the object that it leads to has a document of its own")
        }
        let type = place.column.map { mapping.schema.text(of: $0) } ?? mapping.schema.text(of: place.element)
        return DocumentError(.wrongType, "expected the path to end before \"\(shown)\", at \(type)")
    }

    /// Writes a value, narrowly if there is one already.
    mutating func write(_ value: Value, at place: WritePlace) throws(DocumentError) {
        guard let old = place.value else {
            return try recording { () throws(RecordingError) in
                if place.kind == .slot {
                    try transaction.insert(value, at: place.address)
                } else {
                    try transaction.set(place.address, to: value)
                }
            }
        }
        try NarrowWrite(mapping: mapping).assign(
            value, to: place.address, from: old, place.element, in: &transaction)
    }

    /// The value that a document's is at a place.
    func value(_ value: BSONValue, at place: WritePlace) throws(DocumentError) -> Value {
        if let column = place.column { return try mapping.value(value, of: column) }
        return try mapping.value(value, place.element, inList: place.kind == .slot)
    }
}
