import Changesets
import RealmState

/// Edits that an input chooses, as an application would make them: the recorder refuses what makes no sense.
///
/// Left out is what does not converge on purpose: dictionaries of embedded objects under the rules of stock clients
/// (D4), and erasing the schema (D7, D8).
enum EditScript {
    private static let fields: [ByteString] = [
        "i", "ni", "s", "mx", "li", "ls", "ll", "lm", "link", "si", "di", "dm", "emb", "lemb", "mx", "dm",
    ]
    private static let keys: [ByteString] = ["k", "l", "m"]
    private static let embeddedFields: [ByteString] = ["v", "name", "nums", "props"]

    /// Makes one write; what it records.
    static func write(_ state: inout RealmState, _ source: inout ByteSource) -> Changeset {
        let recorded = state.record { transaction in
            for _ in 0...source.choice(4) { try? edit(&transaction, &source) }
        }
        return (try? Changeset(parsing: recorded.changeset)) ?? Changeset()
    }

    private static func edit(_ transaction: inout RecordingTransaction, _ source: inout ByteSource) throws {
        let item = source.element(of: FuzzRealm.items, or: ObjectAddress("Item", .int(9)))
        let doc = source.element(of: FuzzRealm.docs, or: ObjectAddress("Doc", .string("z")))
        switch source.choice(24) {
        case 0: try transaction.createObject(item)
        case 1: try transaction.deleteObject(item)
        case 2: try transaction.createObject(doc)
        case 3: try transaction.deleteObject(doc)
        default:
            var address = FieldAddress(item, source.element(of: fields, or: "i"))
            while let step = step(transaction.state.value(at: address), &source) {
                address = address.appending(step)
            }
            try edit(&transaction, address, doc, &source)
        }
    }

    /// One step further into a value, or nil to stay.
    private static func step(_ value: Value?, _ source: inout ByteSource) -> PathStep? {
        guard !source.isAtEnd, source.choice(4) > 0 else { return nil }
        switch value {
        case .list(let items): return .index(source.choice(items.count + 1))
        case .dictionary: return .key(source.element(of: keys, or: "k"))
        case .embedded: return .key(source.element(of: embeddedFields, or: "v"))
        default: return nil
        }
    }

    private static func edit(
        _ transaction: inout RecordingTransaction, _ address: FieldAddress, _ doc: ObjectAddress,
        _ source: inout ByteSource
    ) throws {
        let place = try transaction.place(address)
        let isEmbedded = transaction.state.schema.embeddedTarget(of: place.element) != nil
        let value = isEmbedded ? Value.embedded(StoredObject()) : value(place.element, doc, &source)
        if source.choice(12) == 11 { return try transaction.clear(address) }
        switch place.kind {
        case .property where place.element.type == .int && source.choice(2) == 1:
            try transaction.increment(address, by: Int64(source.choice(5)) - 2)
        case .property: try transaction.set(address, to: isEmbedded && source.choice(2) == 1 ? .null : value)
        case .entry where source.choice(4) == 0: try transaction.removeKey(address)
        case .entry: try transaction.set(address, to: value)
        case .slot:
            switch source.choice(8) {
            case 0, 1: try transaction.remove(at: address)
            case 2: try transaction.move(address, to: source.choice(max(1, place.listCount)))
            case 3, 4: try transaction.set(address, to: value)
            default: try transaction.insert(value, at: address)
            }
        case .list: try transaction.set(address, to: .list([value]))
        case .dictionary: try transaction.set(address, to: .dictionary(["k": value]))
        case .set:
            if source.choice(2) == 0 {
                try transaction.insertIntoSet(value, in: address)
            } else {
                try transaction.removeFromSet(value, in: address)
            }
        }
    }

    private static func value(_ element: ElementType, _ doc: ObjectAddress, _ source: inout ByteSource) -> Value {
        switch element.type {
        case .int: .int(Int64(source.choice(4)))
        case .string: .string(source.element(of: keys, or: "k"))
        case .link: .link(element.target == "Item" ? source.element(of: FuzzRealm.items, or: doc) : doc)
        default: mixed(doc, depth: 0, &source)
        }
    }

    private static func mixed(_ doc: ObjectAddress, depth: Int, _ source: inout ByteSource) -> Value {
        switch source.choice(depth < 2 ? 8 : 4) {
        case 0: return .null
        case 1: return .int(Int64(source.choice(4)))
        case 2: return .string("x")
        case 3: return .link(doc)
        case 4: return .list([])
        case 5: return .dictionary([:])
        case 6: return .list([mixed(doc, depth: depth + 1, &source)])
        default: return .dictionary([source.element(of: keys, or: "k"): mixed(doc, depth: depth + 1, &source)])
        }
    }
}
