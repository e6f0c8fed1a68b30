import Changesets
import RealmState

/// A realm with the schema of the recorded scenarios and a few objects in which something is everywhere.
enum FuzzRealm {
    static let items: [ObjectAddress] = (1...3).map { ObjectAddress("Item", .int($0)) }
    static let docs: [ObjectAddress] = ["a", "b"].map { ObjectAddress("Doc", .string($0)) }

    /// Made once; a copy costs nothing.
    static let state: RealmState = {
        var state = RealmState()
        // A realm that cannot be made leaves an empty one, and a test that asks for its objects.
        _ = try? state.record { transaction throws(RecordingError) in
            try makeSchema(&transaction)
            for address in items + docs { try transaction.createObject(address) }
            for item in items.prefix(2) { try fill(item, &transaction) }
        }
        return state
    }()

    private static func makeSchema(_ transaction: inout RecordingTransaction) throws(RecordingError) {
        try transaction.createTable("Item", key: KeySchema(name: "_id", type: .int, nullable: false))
        try transaction.createTable("Doc", key: KeySchema(name: "_id", type: .string, nullable: false))
        try transaction.createTable("Obj", key: KeySchema(name: "_id", type: .objectID, nullable: false))
        try transaction.createTable("Uu", key: KeySchema(name: "_id", type: .uuid, nullable: true))
        try transaction.createEmbeddedTable("Emb")
        func add(
            _ table: ByteString, _ field: ByteString, _ type: PayloadType, nullable: Bool = false,
            _ collection: CollectionType = .single, to target: ByteString? = nil
        ) throws(RecordingError) {
            try transaction.addColumn(
                table, field, ElementType(type: type, nullable: nullable, target: target), collection: collection)
        }
        try add("Emb", "v", .int)
        try add("Emb", "name", .string, nullable: true)
        try add("Emb", "nums", .int, .list)
        try add("Emb", "props", .null, nullable: true, .dictionary)
        let scalars: [(ByteString, PayloadType, Bool)] = [
            ("i", .int, false), ("ni", .int, true), ("s", .string, false), ("b", .bool, false), ("bin", .binary, true),
            ("ts", .timestamp, true), ("f", .float, false), ("d", .double, true), ("dec", .decimal, true),
            ("oid", .objectID, true), ("uuid", .uuid, true), ("mx", .null, true),
        ]
        for (name, type, nullable) in scalars { try add("Item", name, type, nullable: nullable) }
        try add("Item", "link", .link, nullable: true, to: "Item")
        try add("Item", "doc", .link, nullable: true, to: "Doc")
        try add("Item", "li", .int, .list)
        try add("Item", "ls", .string, nullable: true, .list)
        try add("Item", "ll", .link, .list, to: "Doc")
        try add("Item", "lm", .null, nullable: true, .list)
        try add("Item", "emb", .link, nullable: true, to: "Emb")
        try add("Item", "lemb", .link, .list, to: "Emb")
        try add("Item", "si", .int, .set)
        try add("Item", "ss", .string, .set)
        try add("Item", "di", .int, .dictionary)
        try add("Item", "dm", .null, nullable: true, .dictionary)
        try add("Item", "demb", .link, nullable: true, .dictionary, to: "Emb")
        try add("Doc", "title", .string, nullable: true)
        try add("Doc", "count", .int)
        try add("Doc", "items", .link, .list, to: "Item")
    }

    private static func fill(_ item: ObjectAddress, _ transaction: inout RecordingTransaction) throws(RecordingError) {
        func at(_ field: ByteString, _ path: PathStep...) -> FieldAddress { FieldAddress(item, field, path) }
        let nested = Value.list([.int(1), .list([.int(2)]), .dictionary(["k": .int(3)])])
        try transaction.set(at("li"), to: .list([.int(1), .int(2), .int(3)]))
        try transaction.set(at("lm"), to: nested)
        try transaction.set(at("mx"), to: .dictionary(["k": nested, "l": .int(1)]))
        try transaction.set(at("dm"), to: .dictionary(["k": nested, "l": .string("x")]))
        try transaction.set(at("di"), to: .dictionary(["k": .int(1)]))
        try transaction.insertIntoSet(.int(1), in: at("si"))
        try transaction.set(at("emb"), to: .embedded(StoredObject()))
        for index in 0..<2 { try transaction.insert(.embedded(StoredObject()), at: at("lemb", .index(index))) }
    }
}
