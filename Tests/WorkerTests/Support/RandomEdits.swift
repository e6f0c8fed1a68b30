import Changesets
import RealmState
import SeededRandom

/// Random changes of every kind that clients make: objects, values, lists, sets, dictionaries, collections in mixed values,
/// embedded objects, counters; and, if wanted, classes and columns made, and erased as an operator may.
struct RandomEdits {
    var random: SeededGenerator
    /// How many of a hundred edits are of the schema.
    var schemaPercent = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// The changeset of one transaction; nil if it came to nothing.
    mutating func transaction(_ state: inout RealmState) -> [UInt8]? {
        let count = Int.random(in: 1...4, using: &random)
        let recorded = try? state.record { (transaction: inout RecordingTransaction) throws -> Void in
            for _ in 0..<count { try? change(&transaction) }
        }
        guard let bytes = recorded?.changeset, !bytes.isEmpty else { return nil }
        return bytes
    }

    static func schema() -> [UInt8] {
        var state = RealmState()
        let recorded = try? state.record { (transaction: inout RecordingTransaction) throws -> Void in
            try makeTask(&transaction)
            try transaction.createTable("Tag", key: KeySchema(name: "_id", type: .string, nullable: false))
            try transaction.addColumn("Tag", "n", ElementType(type: .int, nullable: false))
            try transaction.createEmbeddedTable("Note")
            try transaction.addColumn("Note", "v", ElementType(type: .int, nullable: false))
            try transaction.addColumn("Note", "nums", ElementType(type: .int, nullable: false), collection: .list)
            try transaction.addColumn("Task", "tag", ElementType(type: .link, nullable: true, target: "Tag"))
            try transaction.addColumn("Task", "note", ElementType(type: .link, nullable: true, target: "Note"))
            try transaction.addColumn(
                "Task", "notes", ElementType(type: .link, nullable: false, target: "Note"), collection: .list)
        }
        return recorded?.changeset ?? []
    }

    private static func makeTask(_ transaction: inout RecordingTransaction) throws {
        try transaction.createTable("Task", key: KeySchema(name: "_id", type: .int, nullable: false))
        try transaction.addColumn("Task", "i", ElementType(type: .int, nullable: false))
        try transaction.addColumn("Task", "mx", .mixed)
        try transaction.addColumn("Task", "li", ElementType(type: .int, nullable: false), collection: .list)
        try transaction.addColumn("Task", "di", ElementType(type: .int, nullable: false), collection: .dictionary)
        try transaction.addColumn("Task", "si", ElementType(type: .int, nullable: false), collection: .set)
    }

    // MARK: Changes

    private mutating func change(_ transaction: inout RecordingTransaction) throws {
        if Int.random(in: 0..<100, using: &random) < schemaPercent { return try changeSchema(&transaction) }
        let object = ObjectAddress("Task", .int(Int64.random(in: 1...8, using: &random)))
        let tag = ObjectAddress("Tag", .string(["a", "b"].randomElement(using: &random) ?? "a"))
        switch Int.random(in: 0..<30, using: &random) {
        case 0...5: try transaction.createObject(object)
        case 6: try transaction.createObject(tag)
        case 7, 8: try transaction.deleteObject(Bool.random(using: &random) ? object : tag)
        default:
            let fields = transaction.state.schema.table("Task")?.columns.map(\.name) ?? []
            guard let field = fields.randomElement(using: &random) else { return }
            var address = FieldAddress(object, field)
            while let step = step(transaction.state.value(at: address)) { address = address.appending(step) }
            try edit(&transaction, address, tag)
        }
    }

    private mutating func changeSchema(_ transaction: inout RecordingTransaction) throws {
        let column: ByteString = ["c0", "c1"].randomElement(using: &random) ?? "c0"
        switch Int.random(in: 0..<5, using: &random) {
        case 0: try transaction.createTable("Tag", key: KeySchema(name: "_id", type: .string, nullable: false))
        case 1: try transaction.addColumn("Tag", "n", ElementType(type: .int, nullable: false))
        case 2, 3:
            try transaction.addColumn("Task", "tag", ElementType(type: .link, nullable: true, target: "Tag"))
        default: try transaction.addColumn("Task", column, ElementType(type: .int, nullable: false))
        }
    }

    /// A changeset of an operator that takes a class or a column away, on top of a state; nil if that has nothing to lose.
    mutating func erasure(from state: RealmState) -> [UInt8]? {
        var state = state
        let kind = Int.random(in: 0..<4, using: &random)
        let column: ByteString = ["c0", "c1"].randomElement(using: &random) ?? "c0"
        let recorded = try? state.record { (transaction: inout RecordingTransaction) throws -> Void in
            switch kind {
            case 0:
                // A class cannot go while a column links to it.
                try? transaction.eraseColumn("Task", "tag")
                try transaction.eraseTable("Tag")
            case 1: try transaction.eraseColumn("Task", "tag")
            default: try transaction.eraseColumn("Task", column)
            }
        }
        guard let bytes = recorded?.changeset, !bytes.isEmpty else { return nil }
        return bytes
    }

    /// One step further into a value, or nil to stay.
    private mutating func step(_ value: Value?) -> PathStep? {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
        switch value {
        case .list(let items): return .index(Int.random(in: 0...items.count, using: &random))
        case .dictionary: return .key(["x", "y"].randomElement(using: &random) ?? "x")
        case .embedded: return .key(["v", "nums"].randomElement(using: &random) ?? "v")
        default: return nil
        }
    }

    private mutating func edit(
        _ transaction: inout RecordingTransaction, _ address: FieldAddress, _ tag: ObjectAddress
    ) throws {
        let place = try transaction.place(address)
        let value = fitting(place.element, transaction.state.schema, tag)
        switch place.kind {
        case .property where place.element.type == .int && Bool.random(using: &random):
            try transaction.increment(address, by: 3)
        case .property: try transaction.set(address, to: value)
        case .entry where Int.random(in: 0..<4, using: &random) == 0: try transaction.removeKey(address)
        case .entry: try transaction.set(address, to: value)
        case .slot:
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: try transaction.remove(at: address)
            case 2: try transaction.move(address, to: Int.random(in: 0..<max(1, place.listCount), using: &random))
            case 3: try transaction.set(address, to: value)
            default: try transaction.insert(value, at: address)
            }
        case .list: try transaction.set(address, to: .list([value, value]))
        case .dictionary: try transaction.set(address, to: .dictionary(["x": value]))
        case .set:
            if Bool.random(using: &random) {
                try transaction.insertIntoSet(value, in: address)
            } else {
                try transaction.removeFromSet(value, in: address)
            }
        }
        if Int.random(in: 0..<12, using: &random) == 0 { try transaction.clear(address) }
    }

    private mutating func fitting(_ element: ElementType, _ schema: Schema, _ tag: ObjectAddress) -> Value {
        if schema.embeddedTarget(of: element) != nil { return .embedded(StoredObject()) }
        switch element.type {
        case .int: return .int(Int64.random(in: 0...5, using: &random))
        case .link: return .link(tag)
        default: return mixed(depth: 0)
        }
    }

    private mutating func mixed(depth: Int) -> Value {
        switch Int.random(in: 0..<(depth < 2 ? 6 : 4), using: &random) {
        case 0: return .null
        case 1, 2: return .int(Int64.random(in: 0...5, using: &random))
        case 3: return .string("s")
        case 4:
            var items: [Value] = []
            for _ in 0..<Int.random(in: 0...3, using: &random) { items.append(mixed(depth: depth + 1)) }
            return .list(items)
        default: return .dictionary(["x": mixed(depth: depth + 1), "y": .null])
        }
    }
}
