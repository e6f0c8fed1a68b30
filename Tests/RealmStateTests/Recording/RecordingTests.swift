import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct RecordingTests {
    @Test func oneTransactionRecordsTheStreamingForm() throws {
        var state = RealmState()
        let object = ObjectAddress("Foo", .int(1))
        let (_, bytes) = try state.record { transaction throws(RecordingError) in
            try transaction.createTable("Foo", key: KeySchema(name: "id", type: .int, nullable: false))
            try transaction.addColumn("Foo", "name", ElementType(type: .string, nullable: true))
            try transaction.createObject(object)
            try transaction.set(FieldAddress(object, "name"), to: .string("Al"))
        }
        // The transaction of docs/changesets.md, "Examples".
        let expected = """
            3f 00 03 466f6f 3f 01 02 6964 00 00 00 01 01 00 3f 02 04 6e616d65 3f 03 00 06 00 02 03 01 00
            02 00 01 01 04 00 01 01 02 00 03 02 416c 00
            """
        expectEqual(bytes, hex(expected))
        expectEqual(state.takeChanges().upserted.count, 1)
    }

    @Test func theOwnerClassOfAnEmbeddedFieldIsInternedFirst() throws {
        var replica = try Replica()
        try replica.write { try $0.insert(.embedded(StoredObject()), at: SampleRealm.at("lemb", .index(0))) }
        expectEqual(replica.last.strings.strings, ["T", "lemb"])
        try replica.write { try $0.set(SampleRealm.at("lemb", .index(0), .key("v")), to: .int(4)) }
        expectEqual(replica.last.strings.strings, ["E", "T", "lemb", "v"])
        try replica.write { try $0.set(SampleRealm.at("i"), to: .int(4)) }
        expectEqual(replica.last.strings.strings, ["T", "i"])
    }

    @Test func aFailedTransactionLeavesNothing() throws {
        var replica = try Replica()
        let error = replica.failure { transaction in
            try transaction.set(SampleRealm.at("i"), to: .int(4))
            try transaction.createObject(ObjectAddress("T", .int(2)))
            try transaction.set(SampleRealm.at("none"), to: .int(1))
        }
        expectEqual(error?.code, .noSuchField)
        expectEqual(error?.field, "none")
        expectTrue(!replica.author.hasSavepoint)
    }

    @Test func aTransactionWithoutChangesIsEmpty() throws {
        var replica = try Replica()
        let (_, bytes) = try replica.author.record { transaction throws(RecordingError) in
            _ = try transaction.place(SampleRealm.at("i"))
            try transaction.addColumn("T", "i", ElementType(type: .int, nullable: false))
            try transaction.clear(SampleRealm.at("li"))
            try transaction.removeFromSet(.int(1), in: SampleRealm.at("si"))
            try transaction.removeKey(SampleRealm.at("di", .key("k")))
            try transaction.set(SampleRealm.at("link"), to: .null, isDefault: true)
        }
        expectTrue(bytes.isEmpty)
    }

    /// An object that is made with what it holds is recorded as one whose properties are written one after the other.
    @Test func anObjectIsMadeWithItsValues() throws {
        let values: [(name: ByteString, element: ElementType, value: Value, isDefault: Bool)] = [
            ("name", ElementType(type: .string, nullable: true), .string("Al"), false),
            ("none", ElementType(type: .string, nullable: true), .null, false),
            ("count", ElementType(type: .int, nullable: false), .int(7), true),
            ("any", .mixed, .bool(true), false),
        ]
        let object = ObjectAddress("Foo", .string("a"))
        func made(
            _ make: (inout RecordingTransaction, [PlainValue]) throws(RecordingError) -> Void
        ) throws -> (bytes: [UInt8], state: RealmState) {
            var state = RealmState()
            let (_, bytes) = try state.record { transaction throws(RecordingError) in
                try transaction.createTable("Foo", key: KeySchema(name: "id", type: .string, nullable: false))
                for value in values { try transaction.addColumn("Foo", value.name, value.element) }
                let table = transaction.state.schema.table("Foo")
                let plain = values.compactMap { value in
                    table?.column(value.name).map { PlainValue($0, value.value, isDefault: value.isDefault) }
                }
                try make(&transaction, plain)
                // What comes next goes on from there.
                try transaction.set(FieldAddress(object, "count"), to: .int(8))
            }
            return (bytes, state)
        }
        let slow = try made { transaction, plain throws(RecordingError) in
            try transaction.createObject(object)
            for item in plain {
                try transaction.set(FieldAddress(object, item.column.name), to: item.value, isDefault: item.isDefault)
            }
        }
        let fast = try made { transaction, plain throws(RecordingError) in
            let isNew = try transaction.createIfMissing(object, with: plain)
            let isNewAgain = try transaction.createIfMissing(object, with: [])
            expectTrue(isNew && !isNewAgain)
        }
        expectEqual(fast.bytes, slow.bytes)
        expectTrue(fast.state.object(object) == slow.state.object(object) && fast.state.object(object) != nil)
        for wrong in [Value.double(bits: 0), .link(object), .list([])] {
            #expect(throws: RecordingError.self) {
                try made { transaction, plain throws(RecordingError) in
                    _ = try transaction.createIfMissing(object, with: [PlainValue(plain[2].column, wrong)])
                }
            }
        }
    }

    @Test func unkeptTransactionStillChangesTheState() throws {
        var state = RealmState()
        var transaction = RecordingTransaction(taking: &state, isKept: false)
        try transaction.createTable("Foo", key: KeySchema(name: "id", type: .string, nullable: false))
        try transaction.createObject(ObjectAddress("Foo", .string("a")))
        let bytes = transaction.commit(returningTo: &state)
        expectTrue(bytes.isEmpty && state.hasChanges && state.contains(ObjectAddress("Foo", .string("a"))))
    }

    @Test func defaultsAreMarked() throws {
        var replica = try Replica()
        try replica.write { try $0.set(SampleRealm.at("i"), to: .int(4), isDefault: true) }
        expectEqual(replica.shape, ["Update default"])
    }

    @Test func incrementsAreRecordedAsSuch() throws {
        var replica = try Replica()
        try replica.write { transaction in
            try transaction.increment(SampleRealm.at("i"), by: 5)
            try transaction.set(SampleRealm.at("mx"), to: .int(1))
            try transaction.increment(SampleRealm.at("mx"), by: -2)
        }
        expectEqual(replica.shape, ["AddInteger", "Update", "AddInteger"])
        expectEqual(replica.value("i"), .int(5))
        expectEqual(replica.value("mx"), .int(-1))
        expectEqual(replica.failure { try $0.increment(SampleRealm.at("s"), by: 1) }?.code, .wrongType)
    }

    @Test func embeddedObjectsAreReplacedAsTheirPlaceDemands() throws {
        var replica = try Replica()
        let new = Value.embedded(StoredObject())
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("emb"), to: new)
            try transaction.insert(new, at: SampleRealm.at("lemb", .index(0)))
            try transaction.set(SampleRealm.at("demb", .key("k")), to: new)
        }
        expectEqual(replica.shape, ["Update(objectValue)", "ArrayInsert(objectValue) 0", "Update(objectValue)"])
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("emb"), to: new)
            try transaction.set(SampleRealm.at("lemb", .index(0)), to: new)
            try transaction.set(SampleRealm.at("demb", .key("k")), to: new)
        }
        expectEqual(
            replica.shape,
            [
                "Update(null)", "Update(objectValue)", "ArrayErase 0 1", "ArrayInsert(objectValue) 0",
                "Update(objectValue)",
            ])
        var own = try Replica(.convergent)
        try own.write { try $0.set(SampleRealm.at("demb", .key("k")), to: .embedded(StoredObject())) }
        try own.write { try $0.set(SampleRealm.at("demb", .key("k")), to: .embedded(StoredObject())) }
        expectEqual(own.shape, ["Update(erased)", "Update(objectValue)"])
    }

    @Test func embeddedObjectsAreWrittenWithTheirContents() throws {
        var replica = try Replica()
        let table = try #require(replica.author.schema.table("E"))
        let v = try #require(table.column("v")).id
        let nums = try #require(table.column("nums")).id
        let inner = try #require(table.column("inner")).id
        let child = StoredObject([v: .int(7)])
        let whole = StoredObject([v: .int(1), nums: .list([.int(5), .int(6)]), inner: .embedded(child)])
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("emb"), to: .embedded(whole))
            try transaction.insert(.embedded(whole), at: SampleRealm.at("lemb", .index(0)))
            try transaction.set(SampleRealm.at("demb"), to: .dictionary(["a": .embedded(child), "b": .null]))
        }
        expectEqual(replica.value("emb", .key("inner"), .key("v")), .int(7))
        expectEqual(replica.value("lemb", .index(0), .key("nums")), .list([.int(5), .int(6)]))
        expectEqual(replica.value("demb", .key("a"), .key("v")), .int(7))
    }

    @Test func collectionsInMixedAreUpdatedClearedAndFilled() throws {
        var replica = try Replica()
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("mx"), to: .dictionary(["a": .list([.int(1), .dictionary([:])])]))
        }
        expectEqual(
            replica.shape,
            [
                "Update(dictionary)", "Clear(dictionary)", "Update(list)", "Clear(list)", "ArrayInsert 0",
                "ArrayInsert 1",
            ])
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("mx", .key("a"), .index(1), .key("k")), to: .bool(true))
            try transaction.set(SampleRealm.at("mx", .key("a"), .index(0)), to: .list([.null]))
            try transaction.insert(.string("x"), at: SampleRealm.at("mx", .key("a"), .index(2)))
            try transaction.clear(SampleRealm.at("mx", .key("a"), .index(0)))
            try transaction.clear(SampleRealm.at("mx", .key("a"), .index(0)))
        }
        let expected = Value.dictionary(["a": .list([.list([]), .dictionary(["k": .bool(true)]), .string("x")])])
        expectEqual(replica.value("mx"), expected)
        expectEqual(replica.shape.suffix(2), ["Clear(list)", "Clear(list)"])
    }

    @Test func wholeCollectionsReplaceWhatWasThere() throws {
        var replica = try Replica()
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("li"), to: .list([.int(1), .int(2)]))
            try transaction.set(SampleRealm.at("li"), to: .list([.int(3)]))
            try transaction.set(SampleRealm.at("si"), to: .set([.int(3)]))
            try transaction.set(SampleRealm.at("di"), to: .dictionary(["k": .int(3)]))
        }
        expectEqual(replica.shape.prefix(4), ["ArrayInsert 0", "ArrayInsert 1", "Clear(list)", "ArrayInsert 0"])
        expectEqual(replica.value("li"), .list([.int(3)]))
        expectEqual(replica.failure { try $0.set(SampleRealm.at("li"), to: .set([])) }?.code, .wrongType)
        expectEqual(replica.failure { try $0.set(SampleRealm.at("li"), to: .list([.null])) }?.code, .wrongType)
    }

    @Test func listsAreMovedAndSwapped() throws {
        var replica = try Replica()
        try replica.write { transaction in
            try transaction.set(SampleRealm.at("li"), to: .list([.int(0), .int(1), .int(2), .int(3)]))
        }
        try replica.write { try $0.swap(SampleRealm.at("li"), 3, 0) }
        expectEqual(replica.shape, ["ArrayMove 3 0 4", "ArrayMove 1 3 4"])
        expectEqual(replica.value("li"), .list([.int(3), .int(1), .int(2), .int(0)]))
        try replica.write { try $0.swap(SampleRealm.at("li"), 0, 1) }
        expectEqual(replica.shape, ["ArrayMove 1 0 4"])
        try replica.write { transaction in
            try transaction.move(SampleRealm.at("li", .index(0)), to: 3)
            try transaction.remove(at: SampleRealm.at("li", .index(0)))
        }
        expectEqual(replica.value("li"), .list([.int(2), .int(0), .int(1)]))
        for bad: (inout RecordingTransaction) throws -> Void in [
            { try $0.remove(at: SampleRealm.at("li", .index(3))) },
            { try $0.move(SampleRealm.at("li", .index(0)), to: 3) },
            { try $0.set(SampleRealm.at("li", .index(3)), to: .int(1)) },
            { try $0.insert(.int(1), at: SampleRealm.at("li", .index(4))) },
            { try $0.insert(.int(1), at: SampleRealm.at("li", .index(-1))) },
        ] {
            expectEqual(replica.failure(bad)?.code, .outOfRange)
        }
    }

    @Test func setsRecordOnlyWhatChangesThem() throws {
        var replica = try Replica()
        try replica.write { transaction in
            try transaction.insertIntoSet(.int(2), in: SampleRealm.at("si"))
            try transaction.insertIntoSet(.int(2), in: SampleRealm.at("si"))
            try transaction.insertIntoSet(.int(1), in: SampleRealm.at("si"))
            try transaction.removeFromSet(.int(5), in: SampleRealm.at("si"))
            try transaction.removeFromSet(.int(2), in: SampleRealm.at("si"))
        }
        expectEqual(replica.shape, ["SetInsert", "SetInsert", "SetErase"])
        expectEqual(replica.failure { try $0.insertIntoSet(.null, in: SampleRealm.at("si")) }?.code, .wrongType)
        expectEqual(replica.failure { try $0.insertIntoSet(.list([]), in: SampleRealm.at("sm")) }?.code, .wrongType)
    }

    @Test func asymmetricObjectsAreGoneAfterTheirUploadIsRecorded() throws {
        var state = try SampleRealm.make()
        let object = ObjectAddress("A", .int(1))
        let (_, bytes) = try state.record { transaction throws(RecordingError) in
            try transaction.createObject(object)
        }
        try expectEqual(Changeset(parsing: bytes).instructions.count, 1)
        expectTrue(!state.contains(object))
    }

    @Test func nothingLinksToAnAsymmetricObject() throws {
        var state = try SampleRealm.make()
        let object = ObjectAddress("A", .int(1))
        #expect(throws: RecordingError.self) {
            try state.record { transaction throws(RecordingError) in
                try transaction.createObject(object)
                try transaction.set(SampleRealm.at("mx"), to: .link(object))
            }
        }
    }

    @Test func mistakesAreNamed() throws {
        var replica = try Replica()
        let nobody = ObjectAddress("U", .string("nobody"))
        func code(_ body: (inout RecordingTransaction) throws -> Void) -> RecordingError.Code? {
            replica.failure(body)?.code
        }
        expectEqual(code { try $0.createObject(ObjectAddress("None", .int(1))) }, .noSuchClass)
        expectEqual(code { try $0.createObject(ObjectAddress("T", .string("x"))) }, .wrongKey)
        expectEqual(code { try $0.createObject(ObjectAddress("E", .int(1))) }, .wrongKey)
        expectEqual(code { try $0.createObject(SampleRealm.object) }, .objectExists)
        expectEqual(code { try $0.deleteObject(nobody) }, .noSuchObject)
        expectEqual(code { try $0.set(SampleRealm.at("link"), to: .link(nobody)) }, .noSuchObject)
        expectEqual(code { try $0.set(SampleRealm.at("link"), to: .link(SampleRealm.object)) }, .wrongType)
        expectEqual(code { try $0.set(SampleRealm.at("i"), to: .string("x")) }, .wrongType)
        expectEqual(code { try $0.set(SampleRealm.at("i"), to: .null) }, .wrongType)
        expectEqual(code { try $0.set(SampleRealm.at("_id"), to: .int(1)) }, .noSuchField)
        expectEqual(code { try $0.set(SampleRealm.at("emb", .key("v")), to: .int(1)) }, .wrongType)
        expectEqual(
            code { try $0.createTable("T", key: KeySchema(name: "x", type: .int, nullable: false)) }, .schemaMismatch)
        expectEqual(code { try $0.addColumn("T", "i", ElementType(type: .bool, nullable: false)) }, .schemaMismatch)
        expectEqual(code { try $0.addColumn("T", "new", ElementType(type: .null, nullable: false)) }, .invalid)
        expectEqual(code { try $0.eraseColumn("T", "_id") }, .noSuchField)
    }
}
