import Changesets
import MergeConformance
import RealmState
import TestSupport
import Testing

@Suite struct MixedCollectionTests {
    @Test func assigningTheSameKindKeepsContentsAndAnotherReplacesThem() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("mx"), .list)
            builder.insert(SampleRealm.at("mx", .index(0)), .int(1), priorSize: 0)
            builder.update(SampleRealm.at("mx"), .list)
        }
        expectEqual(state.value(at: SampleRealm.at("mx")), .list([.int(1)]))
        try state.apply { $0.update(SampleRealm.at("mx"), .dictionary) }
        expectEqual(state.value(at: SampleRealm.at("mx")), .dictionary([:]))
        try state.apply { $0.update(SampleRealm.at("mx"), .int(1)) }
        expectEqual(state.value(at: SampleRealm.at("mx")), .int(1))
    }

    @Test func collectionsNestInPropertiesListsAndDictionaries() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("mx"), .dictionary)
            builder.update(SampleRealm.at("mx", .key("A")), .list)
            builder.insert(SampleRealm.at("mx", .key("A"), .index(0)), .dictionary, priorSize: 0)
            builder.update(SampleRealm.at("mx", .key("A"), .index(0), .key("B")), .int(5))
            builder.insert(SampleRealm.at("lm", .index(0)), .list, priorSize: 0)
            builder.insert(SampleRealm.at("lm", .index(0), .index(0)), .string("x"), priorSize: 0)
            builder.update(SampleRealm.at("dm", .key("k")), .list)
            builder.insert(SampleRealm.at("dm", .key("k"), .index(0)), .null, priorSize: 0)
        }
        let nested = Value.dictionary(["A": .list([.dictionary(["B": .int(5)])])])
        expectEqual(state.value(at: SampleRealm.at("mx")), nested)
        expectEqual(state.value(at: SampleRealm.at("lm")), .list([.list([.string("x")])]))
        expectEqual(state.value(at: SampleRealm.at("dm")), .dictionary(["k": .list([.null])]))
    }

    @Test func pathsMustMeetTheRightKind() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.update(SampleRealm.at("mx"), .list) }
        expectTrue(state.failure { $0.update(SampleRealm.at("mx", .key("k")), .int(1)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("mx", .index(0)), .int(1)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("mx", .index(0), .index(0)), .int(1)) } != nil)
        try state.apply { $0.update(SampleRealm.at("mx"), .dictionary) }
        expectTrue(state.failure { $0.insert(SampleRealm.at("mx", .index(0)), .int(1), priorSize: 0) } != nil)
        expectTrue(
            state.failure { $0.insert(SampleRealm.at("mx", .key("k"), .index(0)), .int(1), priorSize: 0) } != nil)
        expectTrue(state.failure { $0.increment(SampleRealm.at("mx", .key("k")), 1) } != nil)
    }

    @Test func clearMakesTheKindThatItNames() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("mx"), .int(3))
            builder.clear(SampleRealm.at("mx"), .list)
            builder.insert(SampleRealm.at("mx", .index(0)), .int(1), priorSize: 0)
            builder.clear(SampleRealm.at("mx", .index(0)), .dictionary)
            builder.update(SampleRealm.at("mx", .index(0), .key("k")), .int(1))
            builder.clear(SampleRealm.at("mx", .index(0), .key("k")), .list)
        }
        expectEqual(state.value(at: SampleRealm.at("mx")), .list([.dictionary(["k": .list([])])]))
        try state.apply { $0.clear(SampleRealm.at("mx"), .list) }
        expectEqual(state.value(at: SampleRealm.at("mx")), .list([]))
        for kind: CollectionType in [.single, .set] {
            expectTrue(state.failure { $0.clear(SampleRealm.at("mx"), kind) } != nil)
        }
        expectTrue(state.failure { $0.clear(SampleRealm.at("mx", .index(0)), .list) } != nil)
        expectTrue(state.failure { $0.clear(SampleRealm.at("lm", .index(0)), .list) } != nil)
    }

    /// Where another peer has erased it, an entry that is cleared later comes back, empty.
    @Test func clearMakesAnEntryThatIsNotThere() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.clear(SampleRealm.at("dm", .key("none")), .list) }
        expectEqual(state.value(at: SampleRealm.at("dm")), .dictionary(["none": .list([])]))
        try state.apply { $0.update(SampleRealm.at("mx"), .dictionary) }
        try state.apply { $0.clear(SampleRealm.at("mx", .key("k")), .dictionary) }
        expectEqual(state.value(at: SampleRealm.at("mx")), .dictionary(["k": .dictionary([:])]))
        expectTrue(state.failure { $0.clear(SampleRealm.at("di", .key("none")), .list) } != nil)
    }

    @Test func nestingEndsAtOneHundredLevels() throws {
        var state = try SampleRealm.make()
        var address = SampleRealm.at("mx")
        try state.apply { $0.update(address, .list) }
        for _ in 2...100 {
            address = address.appending(.index(0))
            try state.apply { $0.insert(address, .list, priorSize: 0) }
        }
        address = address.appending(.index(0))
        expectTrue(state.failure { $0.insert(address, .list, priorSize: 0) } != nil)
        try state.apply { $0.insert(address, .int(1), priorSize: 0) }
        expectTrue(state.failure { $0.clear(address, .dictionary) } != nil)
        let object = try #require(state.object(SampleRealm.object))
        try expectEqual(StoredObject(decoding: object.encoded()), object)
        expectEqual(StateDump.json(of: state).contains("[1]"), false)
        expectEqual(state.changesets(byteBudget: 1 << 20).count, 2)
    }

    @Test func aFailedWriteLeavesTheSlotAsItWas() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.update(SampleRealm.at("di", .key("k")), .int(1)) }
        #expect(throws: RealmStateError.self) {
            try state.apply { $0.update(SampleRealm.at("di", .key("k")), .string("x")) }
        }
        expectEqual(state.value(at: SampleRealm.at("di")), .dictionary(["k": .int(1)]))
    }
}
