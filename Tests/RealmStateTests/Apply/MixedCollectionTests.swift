import Changesets
import MergeConformance
import RealmState
import Testing

@Suite struct MixedCollectionTests {
    @Test func assigningTheSameKindKeepsContentsAndAnotherReplacesThem() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("mx"), .list)
            builder.insert(SampleRealm.at("mx", .index(0)), .int(1), priorSize: 0)
            builder.update(SampleRealm.at("mx"), .list)
        }
        #expect(state.value(at: SampleRealm.at("mx")) == .list([.int(1)]))
        try state.apply { $0.update(SampleRealm.at("mx"), .dictionary) }
        #expect(state.value(at: SampleRealm.at("mx")) == .dictionary([:]))
        try state.apply { $0.update(SampleRealm.at("mx"), .int(1)) }
        #expect(state.value(at: SampleRealm.at("mx")) == .int(1))
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
        #expect(state.value(at: SampleRealm.at("mx")) == nested)
        #expect(state.value(at: SampleRealm.at("lm")) == .list([.list([.string("x")])]))
        #expect(state.value(at: SampleRealm.at("dm")) == .dictionary(["k": .list([.null])]))
    }

    @Test func pathsMustMeetTheRightKind() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.update(SampleRealm.at("mx"), .list) }
        #expect(state.failure { $0.update(SampleRealm.at("mx", .key("k")), .int(1)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("mx", .index(0)), .int(1)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("mx", .index(0), .index(0)), .int(1)) } != nil)
        try state.apply { $0.update(SampleRealm.at("mx"), .dictionary) }
        #expect(state.failure { $0.insert(SampleRealm.at("mx", .index(0)), .int(1), priorSize: 0) } != nil)
        #expect(state.failure { $0.insert(SampleRealm.at("mx", .key("k"), .index(0)), .int(1), priorSize: 0) } != nil)
        #expect(state.failure { $0.increment(SampleRealm.at("mx", .key("k")), 1) } != nil)
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
        #expect(state.value(at: SampleRealm.at("mx")) == .list([.dictionary(["k": .list([])])]))
        try state.apply { $0.clear(SampleRealm.at("mx"), .list) }
        #expect(state.value(at: SampleRealm.at("mx")) == .list([]))
        for kind: CollectionType in [.single, .set] {
            #expect(state.failure { $0.clear(SampleRealm.at("mx"), kind) } != nil)
        }
        #expect(state.failure { $0.clear(SampleRealm.at("mx", .index(0)), .list) } != nil)
        #expect(state.failure { $0.clear(SampleRealm.at("lm", .index(0)), .list) } != nil)
    }

    /// Where another peer has erased it, an entry that is cleared later comes back, empty.
    @Test func clearMakesAnEntryThatIsNotThere() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.clear(SampleRealm.at("dm", .key("none")), .list) }
        #expect(state.value(at: SampleRealm.at("dm")) == .dictionary(["none": .list([])]))
        try state.apply { $0.update(SampleRealm.at("mx"), .dictionary) }
        try state.apply { $0.clear(SampleRealm.at("mx", .key("k")), .dictionary) }
        #expect(state.value(at: SampleRealm.at("mx")) == .dictionary(["k": .dictionary([:])]))
        #expect(state.failure { $0.clear(SampleRealm.at("di", .key("none")), .list) } != nil)
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
        #expect(state.failure { $0.insert(address, .list, priorSize: 0) } != nil)
        try state.apply { $0.insert(address, .int(1), priorSize: 0) }
        #expect(state.failure { $0.clear(address, .dictionary) } != nil)
        let object = try #require(state.object(SampleRealm.object))
        #expect(try StoredObject(decoding: object.encoded()) == object)
        #expect(StateDump.json(of: state).contains("[1]") == false)
        #expect(state.changesets(byteBudget: 1 << 20).count == 2)
    }

    @Test func aFailedWriteLeavesTheSlotAsItWas() throws {
        var state = try SampleRealm.make()
        try state.apply { $0.update(SampleRealm.at("di", .key("k")), .int(1)) }
        #expect(throws: RealmStateError.self) {
            try state.apply { $0.update(SampleRealm.at("di", .key("k")), .string("x")) }
        }
        #expect(state.value(at: SampleRealm.at("di")) == .dictionary(["k": .int(1)]))
    }
}
