import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct SchemaInstructionTests {
    @Test func addingWhatIsThereAlreadyDoesNothing() throws {
        var state = try SampleRealm.make()
        let schema = state.schema
        try state.apply { SampleRealm.schema(&$0) }
        expectEqual(state.schema, schema)
        // Nullability is not compared, the primary key counts as a column, and a table without key takes any table.
        try state.apply { builder in
            builder.column("T", "i", .int, nullable: true)
            builder.column("T", "_id", .int)
            builder.table("T", key: "", type: .globalKey)
        }
        expectEqual(state.schema, schema)
    }

    @Test func classesThatDifferFromTheOnesThereAreBad() throws {
        var state = try SampleRealm.make()
        expectTrue(state.failure { $0.table("T", key: "id") } != nil)
        expectTrue(state.failure { $0.table("T", type: .string) } != nil)
        expectTrue(state.failure { $0.table("T", nullable: true) } != nil)
        expectTrue(state.failure { $0.table("T", asymmetric: true) } != nil)
        expectTrue(state.failure { $0.table("E") } != nil)
        expectTrue(state.failure { $0.embedded("T") } != nil)
        expectTrue(state.failure { $0.table("A") } != nil)
        let longest = ByteString(String(repeating: "x", count: 57))
        expectTrue(state.failure { $0.table(longest) } == nil)
        expectTrue(state.failure { $0.table(ByteString(longest.bytes + [0x78])) } != nil)
    }

    @Test func columnsThatDifferFromTheOnesThereAreBad() throws {
        var state = try SampleRealm.make()
        expectTrue(state.failure { $0.column("T", "i", .string) } != nil)
        expectTrue(state.failure { $0.column("T", "i", .int, .list) } != nil)
        expectTrue(state.failure { $0.column("T", "link", .link, nullable: true, target: "T") } != nil)
        expectTrue(state.failure { $0.column("T", "_id", .string) } != nil)
        expectTrue(state.failure { $0.column("None", "i", .int) } != nil)
    }

    @Test func impossibleColumnsAreBad() throws {
        var state = try SampleRealm.make()
        expectTrue(state.failure { $0.column("T", "new", .null) } != nil)
        expectTrue(state.failure { $0.column("T", "new", .null, .dictionary) } == nil)
        expectTrue(state.failure { $0.column("T", "new", .int, .dictionary, keyType: .int) } != nil)
        expectTrue(state.failure { $0.column("T", "new", .link, nullable: true, target: "None") } != nil)
        expectTrue(state.failure { $0.column("T", "new", .link, .set, target: "") } != nil)
        expectTrue(state.failure { $0.column("T", "new", .link, .list, target: "") } == nil)
        expectTrue(state.failure { $0.column("T", "new", .link, .set, target: "E") } != nil)
        expectTrue(state.failure { $0.column("T", ByteString(Array(repeating: 0x78, count: 64)), .int) } != nil)
    }

    @Test func erasedClassesLoseTheirRowsAndMustNotBeReferenced() throws {
        var state = try SampleRealm.make()
        expectTrue(state.failure { $0.eraseTable("None") } != nil)
        expectTrue(state.failure { $0.eraseTable("U") } != nil)
        try state.apply { builder in
            for field: ByteString in ["link", "ll", "dl", "sl"] {
                builder.eraseColumn("T", field)
            }
            builder.eraseColumn("E", "to")
            builder.update(SampleRealm.at("mx"), linkTo: SampleRealm.target)
            builder.eraseTable("U")
        }
        expectTrue(state.schema.table("U") == nil)
        expectTrue(!state.contains(SampleRealm.target))
        try state.apply { builder in
            builder.table("U", type: .string)
            builder.create("U", .string("b"))
        }
        expectEqual(state.objectCount(of: "U"), 1)
    }

    @Test func erasedColumnsComeBackEmpty() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(5))
            builder.eraseColumn("T", "i")
            builder.column("T", "i", .int)
        }
        expectEqual(state.value(at: SampleRealm.at("i")), .int(0))
        expectTrue(state.failure { $0.eraseColumn("T", "none") } != nil)
        expectTrue(state.failure { $0.eraseColumn("T", "_id") } != nil)
        expectTrue(state.failure { $0.eraseColumn("None", "i") } != nil)
        // What the store gets no longer has the old value.
        let stored = state.takeChanges().upserted.first { $0.key == .int(1) }
        expectEqual(stored?.object.entries.isEmpty, true)
    }

    @Test func newColumnsHoldTheirDefaults() throws {
        let state = try SampleRealm.make()
        let defaults: [(ByteString, Value)] = [
            ("i", .int(0)), ("ni", .null), ("s", .string("")), ("b", .bool(false)), ("mx", .null), ("li", .list([])),
            ("di", .dictionary([:])), ("si", .set([])), ("link", .null), ("emb", .null),
        ]
        for (field, value) in defaults {
            expectEqual(state.value(at: SampleRealm.at(field)), value)
        }
    }
}

@Suite struct ColumnShapeTests {
    private static let types: [PayloadType] = [
        .null, .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .link, .objectID, .uuid,
    ]

    /// Every type in every collection, recorded once and applied twice: the second time nothing changes.
    @Test(arguments: types)
    func columnsOfEveryShapeAreRecordedAndApplied(type: PayloadType) throws {
        var author = try SampleRealm.make()
        var receiver = author
        let (_, bytes) = try author.record { transaction throws(RecordingError) in
            for collection: CollectionType in [.single, .list, .dictionary, .set] {
                let nullable = type == .null || (type == .link && [.single, .dictionary].contains(collection))
                let element = ElementType(type: type, nullable: nullable, target: type == .link ? "U" : nil)
                try transaction.addColumn("T", ByteString("new \(collection)"), element, collection: collection)
            }
        }
        let changeset = try Changeset(parsing: bytes)
        expectEqual(changeset.instructions.count, 4)
        try receiver.apply(changeset)
        let schema = receiver.schema
        try receiver.apply(changeset)
        expectEqual(receiver.schema, schema)
        expectEqual(StateDump.canonical(of: receiver), StateDump.canonical(of: author))
        try expectEqual(Schema(decoding: schema.encoded()), schema)
    }

    @Test func tablesAreErasedByTheirAuthor() throws {
        var author = try SampleRealm.make()
        var receiver = author
        let (_, bytes) = try author.record { transaction throws(RecordingError) in
            try transaction.eraseTable("O")
            try transaction.eraseColumn("T", "i")
        }
        try receiver.apply(Changeset(parsing: bytes))
        expectTrue(receiver.schema.table("O") == nil)
        expectEqual(StateDump.canonical(of: receiver), StateDump.canonical(of: author))
    }
}
