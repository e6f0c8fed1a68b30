import Changesets
package import RealmState

extension RecordingTransaction {
    /// Makes an edit as far as it fits.
    package mutating func make(_ edit: Edit) {
        do throws(RecordingError) {
            try attempt(edit)
        } catch {
            // The edit did not fit, and nothing of it has been recorded.
        }
    }

    private mutating func attempt(_ edit: Edit) throws(RecordingError) {
        let className = ByteString(edit.table)
        switch edit.verb {
        case .table: return try createTable(className, key: edit.key)
        case .embedded: return try createEmbeddedTable(className)
        case .column: return try addColumn(edit, to: className)
        case .eraseTable: return try eraseTable(className)
        case .eraseColumn: return try eraseColumn(className, ByteString(edit.field ?? ""))
        default: break
        }
        guard let key = state.schema.table(className)?.objectKey(edit.object ?? 0) else { return }
        let object = ObjectAddress(className, key)
        switch edit.verb {
        case .create: return try createObject(object)
        case .erase: return try deleteObject(object)
        default: break
        }
        guard let field = edit.field else { return }
        let address = fitted(edit, FieldAddress(object, ByteString(field)))
        try attempt(edit, at: address)
    }

    private mutating func attempt(_ edit: Edit, at address: FieldAddress) throws(RecordingError) {
        let value = edit.value?.value(in: state.schema)
        switch edit.verb {
        case .set, .default:
            guard let value, !isWholeCollection(address) else { return }
            try set(address, to: value, isDefault: edit.verb == .default)
        case .add: try increment(address, by: edit.number ?? 0)
        case .insert: if let value { try insert(value, at: address) }
        case .remove: try remove(at: address)
        case .move:
            let count = try place(address).listCount
            if count > 0 { try move(address, to: Int(clamping: edit.number ?? 0) % count) }
        case .clear: try clear(address)
        case .include: if let value { try insertIntoSet(value, in: address) }
        case .exclude: if let value { try removeFromSet(value, in: address) }
        case .drop: try removeKey(address)
        case .create, .erase, .table, .embedded, .column, .eraseTable, .eraseColumn: break
        }
    }

    /// Follows the edit's steps, list indexes reduced to the lists that there are.
    private func fitted(_ edit: Edit, _ field: FieldAddress) -> FieldAddress {
        var address = field
        for (position, step) in edit.steps.enumerated() {
            switch step {
            case .key(let key): address = address.appending(.key(ByteString(key)))
            case .index(let index):
                var count = 0
                if case .list(let items)? = state.value(at: address) { count = items.count }
                // Behind the last element there is a place to insert at.
                if edit.verb == .insert, position == edit.steps.count - 1 { count += 1 }
                address = address.appending(.index(count > 0 ? index % count : index))
            }
        }
        return address
    }

    private func isWholeCollection(_ address: FieldAddress) -> Bool {
        guard let kind = try? place(address).kind else { return false }
        return kind == .list || kind == .dictionary || kind == .set
    }

    private mutating func addColumn(_ edit: Edit, to className: ByteString) throws(RecordingError) {
        guard let field = edit.field, let element = edit.element else { return }
        let collection: CollectionType =
            if edit.details.contains("list") {
                .list
            } else if edit.details.contains("set") {
                .set
            } else {
                edit.details.contains("dictionary") ? .dictionary : .single
            }
        try addColumn(className, ByteString(field), element, collection: collection)
    }
}

extension Edit {
    /// The primary key of a new class: its type, with a question mark if it may be null.
    fileprivate var key: KeySchema {
        let word = details.first ?? "int"
        let type = Edit.types[word.filter { $0 != "?" }] ?? .int
        return KeySchema(name: "_id", type: type, nullable: word.hasSuffix("?"))
    }

    /// The type of a new column, with a question mark if it may be null; a link's class follows it.
    fileprivate var element: ElementType? {
        guard let word = details.first else { return nil }
        guard word != "mixed" else { return .mixed }
        guard let type = Edit.types[word.filter { $0 != "?" }] else { return nil }
        return ElementType(
            type: type, nullable: word.hasSuffix("?"),
            target: type == .link ? ByteString(details.count > 1 ? details[1] : "") : nil)
    }

    private static let types: [String: PayloadType] = [
        "int": .int, "bool": .bool, "string": .string, "binary": .binary, "time": .timestamp, "float": .float,
        "double": .double, "decimal": .decimal, "oid": .objectID, "uuid": .uuid, "link": .link,
    ]
}
