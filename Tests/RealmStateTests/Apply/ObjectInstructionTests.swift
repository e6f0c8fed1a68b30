import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct ObjectInstructionTests {
    @Test func creatingAnObjectThatIsThereResetsNothing() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(7))
            builder.create("T", .int(1))
        }
        expectEqual(state.value(at: SampleRealm.at("i")), .int(7))
        expectEqual(state.objectCount(of: "T"), 1)
    }

    @Test func erasingAnObjectThatIsNotThereIsIgnored() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.erase("T", .int(99)) }
        expectEqual(state.objectCount(of: "T"), 1)
    }

    @Test func linksToAnErasedObjectStayAndReviveWithIt() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("link"), linkTo: SampleRealm.target)
            builder.erase("U", SampleRealm.target.key)
        }
        expectTrue(!state.contains(SampleRealm.target))
        expectEqual(state.value(at: SampleRealm.at("link")), .link(SampleRealm.target))
        let erased = try #require(StateDump.json(of: SampleRealm.object, in: state))
        expectTrue(erased.contains(#""link":null"#))
        try state.apply { $0.create("U", SampleRealm.target.key) }
        let revived = try #require(StateDump.json(of: SampleRealm.object, in: state))
        expectTrue(revived.contains(#""link":"a""#))
    }

    @Test func keysMustFitTheirClass() throws {
        var state = try SampleRealm.make()
        let id = ObjectKey.objectID(.init(high: 1, low: 1))
        let uuid = ObjectKey.uuid(.init(high: 1, low: 1))
        let global = ObjectKey.globalKey(high: 2, low: 1)
        let keys: [ObjectKey] = [.null, .int(5), .string("k"), global, id, uuid]
        let allowed: [ByteString: Set<ObjectKey>] = [
            "T": [.int(5)], "U": [.null, .string("k")], "O": [id], "X": [uuid], "A": [.int(5)], "G": [global], "E": [],
        ]
        for (className, fitting) in allowed {
            for key in keys {
                expectEqual((state.failure { $0.create(className, key) } == nil), fitting.contains(key))
                expectEqual((state.failure { $0.erase(className, key) } == nil), fitting.contains(key))
            }
        }
        expectTrue(state.failure { $0.create("None", .int(1)) } != nil)
        expectTrue(state.failure { $0.erase("None", .int(1)) } != nil)
    }

    @Test func everyPathInstructionNeedsItsObject() throws {
        var state = try SampleRealm.make()
        let gone = FieldAddress(ObjectAddress("T", .int(2)), "li")
        let slot = gone.appending(.index(0))
        expectTrue(state.failure { $0.update(slot, .int(1)) } != nil)
        expectTrue(state.failure { $0.increment(gone, 1) } != nil)
        expectTrue(state.failure { $0.insert(slot, .int(1), priorSize: 0) } != nil)
        expectTrue(state.failure { $0.move(slot, to: 1, priorSize: 2) } != nil)
        expectTrue(state.failure { $0.remove(slot, priorSize: 1) } != nil)
        expectTrue(state.failure { $0.clear(gone, .list) } != nil)
        expectTrue(state.failure { $0.setInsert(gone, .int(1)) } != nil)
        expectTrue(state.failure { $0.setErase(gone, .int(1)) } != nil)
    }

    @Test func whatCameBeforeAnErrorIsThereAlsoOfAnObjectThatIsBeingMade() throws {
        var state = try SampleRealm.make()
        let made = ObjectAddress("T", .int(2))
        var builder = ChangesetBuilder()
        builder.create("T", made.key)
        builder.update(FieldAddress(made, "i"), .int(7))
        builder.update(FieldAddress(made, "link"), linkTo: SampleRealm.target)
        builder.update(FieldAddress(made, "i"), .string("no number"))
        builder.update(FieldAddress(made, "i"), .int(8))
        let changeset = builder.changeset
        let error = try #require(throws: RealmStateError.self) { try state.apply(changeset) }
        expectEqual(error.instruction, 3)
        expectEqual(error.className, "T")
        expectEqual(state.value(at: FieldAddress(made, "i")), .int(7))
        expectEqual(state.value(at: FieldAddress(made, "link")), .link(SampleRealm.target))
    }

    @Test func instructionsForSeveralObjectsInTurnMeetTheRightOnes() throws {
        var state = try SampleRealm.make()
        let (second, third) = (ObjectAddress("T", .int(2)), ObjectAddress("T", .int(3)))
        try state.apply { builder in
            builder.create("T", second.key)
            builder.update(FieldAddress(second, "i"), .int(2))
            builder.create("T", third.key)
            builder.update(SampleRealm.at("i"), .int(1))
            builder.update(FieldAddress(third, "i"), .int(3))
            builder.increment(FieldAddress(third, "i"), 10)
            builder.erase("T", second.key)
            builder.create("T", second.key)
            builder.increment(FieldAddress(second, "i"), 5)
        }
        expectEqual(state.value(at: SampleRealm.at("i")), .int(1))
        expectEqual(state.value(at: FieldAddress(third, "i")), .int(13))
        expectEqual(state.value(at: FieldAddress(second, "i")), .int(5))
    }

    @Test func errorsNameTheInstructionAndItsPlace() throws {
        var state = try SampleRealm.make()
        let error = try #require(
            state.failure { builder in
                builder.update(SampleRealm.at("i"), .int(1))
                builder.update(SampleRealm.at("li", .index(3)), .int(1))
            })
        expectEqual(error.code, .badInstruction)
        expectEqual(error.instruction, 1)
        expectEqual(error.className, "T")
        expectEqual(error.key, .int(1))
        expectEqual(error.path, "li[3]")
        expectTrue(error.description.contains("T[1].li[3]"))
    }

    @Test func stringsThatAreNotInTheTableAreRefused() throws {
        var state = try SampleRealm.make()
        let nowhere = InternedString(9)
        let path = FieldPath(table: nowhere, object: .string(nowhere), field: nowhere, path: [.key(nowhere)])
        for instruction: Instruction in [
            .eraseTable(table: nowhere), .createObject(table: nowhere, object: .null), .addInteger(path, delta: 1),
            .eraseColumn(table: nowhere, field: nowhere), .setErase(path, value: .link(table: nowhere, key: .null)),
        ] {
            let changeset = Changeset(instructions: [instruction])
            #expect(throws: RealmStateError.self) { try state.apply(changeset) }
            expectTrue(changeset.touchedAddresses.isEmpty)
        }
    }
}
