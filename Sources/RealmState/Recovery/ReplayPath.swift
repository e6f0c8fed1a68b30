import Changesets

/// Where a path of a replayed instruction leads on the fresh copy.
struct ReplayPlace {
    /// The path with its list indexes translated.
    var path: FieldPath
    /// What stands there; nil for a dictionary key that does not exist.
    var value: Value?
    /// What may stand there.
    var element: ElementType
    /// Whether the place is a whole collection property.
    var isCollectionField: Bool
    var collection: CollectionType
    /// The class that directly holds the field.
    var owner: ByteString
    /// The list's own path, nil below an element that the replay inserted: there everything is local.
    var tracked: ListPath?

    var items: [Value]? { if case .list(let items) = value { items } else { nil } }
    var entries: [ByteString: Value]? { if case .dictionary(let entries) = value { entries } else { nil } }
}

/// Why an instruction is left out.
enum ReplayDrop: Error {
    case missingObject, path, link, ambiguousList
}

extension ReplayContext {
    /// Follows the first `count` elements of a path.
    /// - Throws: `ReplayDrop` if it leads nowhere any more, `ReplayFailure` if it leads to something else.
    mutating func walk(
        _ path: FieldPath, steps count: Int, _ transaction: borrowing RecordingTransaction
    ) throws -> ReplayPlace {
        let address = try self.address(path.table, path.object)
        let schema = transaction.state.schema
        guard let table = schema.table(address.className) else {
            throw ReplayFailure(description: "class '\(address.className)' does not exist on the server")
        }
        guard let object = transaction.state.object(address) else { throw ReplayDrop.missingObject }
        let field = try name(path.field)
        var place = try fieldPlace(
            table, field, object, FieldPath(table: path.table, object: path.object, field: path.field))
        place.tracked = ListPath(object: address, field: field, keys: [])
        for element in path.path.prefix(count) { place = try step(from: place, element, schema) }
        return place
    }

    private func fieldPlace(
        _ table: TableSchema, _ field: ByteString, _ object: StoredObject, _ path: FieldPath
    ) throws -> ReplayPlace {
        guard let column = table.column(field) else {
            throw ReplayFailure(description: "property '\(table.name).\(field)' does not exist on the server")
        }
        return ReplayPlace(
            path: path, value: object[column], element: column.element, isCollectionField: column.collection != .single,
            collection: column.collection, owner: table.name, tracked: nil)
    }

    private mutating func step(from place: ReplayPlace, _ element: PathElement, _ schema: Schema) throws -> ReplayPlace
    {
        var next = place
        next.isCollectionField = false
        next.collection = .single
        switch (place.value, element) {
        case (.embedded(let object), .key(let key)):
            guard let table = schema.embeddedTarget(of: place.element) else { throw ReplayDrop.path }
            let field = try name(key)
            next = try fieldPlace(table, field, object, place.path)
            next.tracked = place.tracked?.appending(field)
            next.path.path.append(element)
            return next
        case (.list(let items), .index(let index)):
            let position = try translate(Int(index), place)
            guard items.indices.contains(position) else { throw ReplayDrop.path }
            next.value = items[position]
            next.path.path.append(.index(UInt32(clamping: position)))
            // Only elements that the replay inserted are stepped into; below them everything is its own.
            next.tracked = nil
        case (.dictionary(let entries), .key(let key)):
            let key = try name(key)
            guard let value = entries[key] else { throw ReplayDrop.path }
            next.value = value
            next.tracked = place.tracked?.appending(key)
            next.path.path.append(element)
        default:
            // A typed property has no other shape on any side; a mixed one, a link or a slot may have changed.
            let isWrongKind = place.isCollectionField || (!place.element.isMixed && place.value != .null)
            if isWrongKind { throw ReplayFailure(description: "a path ends in the wrong kind of container") }
            throw ReplayDrop.path
        }
        if !place.isCollectionField, place.element.isMixed { next.element = .mixed }
        return next
    }

    /// A position in a list on the server's side, for an element that is updated or stepped into.
    mutating func translate(_ index: Int, _ list: ReplayPlace) throws -> Int {
        guard let tracked = list.tracked else { return index }
        guard let position = trackers.track(tracked, { $0.update(at: index) }) else {
            throw ReplayDrop.ambiguousList
        }
        return position
    }

    func name(_ interned: InternedString) throws -> ByteString {
        guard let name = strings[interned] else { throw ReplayFailure(description: "a changeset is damaged") }
        return name
    }

    func address(_ table: InternedString, _ object: PrimaryKey) throws -> ObjectAddress {
        guard let key = strings.resolve(object) else { throw ReplayFailure(description: "a changeset is damaged") }
        return ObjectAddress(try name(table), key)
    }
}

extension ListPath {
    func appending(_ key: ByteString) -> ListPath { ListPath(object: object, field: field, keys: keys + [key]) }
}
