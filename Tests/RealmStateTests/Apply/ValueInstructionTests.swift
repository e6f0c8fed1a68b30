import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct ValueInstructionTests {
    @Test func scalarsNeedExactlyTheirType() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(1))
            builder.update(SampleRealm.at("ni"), .null)
            builder.update(SampleRealm.at("mx"), .string("x"))
        }
        expectEqual(state.value(at: SampleRealm.at("mx")), .string("x"))
        expectTrue(state.failure { $0.update(SampleRealm.at("i"), .bool(true)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("i"), .double(bits: 0)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("i"), .null) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("i"), linkTo: SampleRealm.target) } != nil)
        for marker: Payload in [.list, .dictionary, .set, .objectValue, .erased] {
            expectTrue(state.failure { $0.update(SampleRealm.at("i"), marker) } != nil)
        }
        expectTrue(state.failure { $0.update(SampleRealm.at("_id"), .int(2)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("none"), .int(2)) } != nil)
        for field: ByteString in ["li", "di", "si"] {
            expectTrue(state.failure { $0.update(SampleRealm.at(field), .int(2)) } != nil)
        }
    }

    @Test func linksNeedTheirTargetClass() throws {
        var state = try SampleRealm.make()
        let unknown = ObjectAddress("U", .string("nowhere"))
        try state.apply { builder in
            builder.update(SampleRealm.at("link"), linkTo: unknown)
            builder.update(SampleRealm.at("any"), linkTo: SampleRealm.object)
            builder.update(SampleRealm.at("mx"), linkTo: SampleRealm.target)
            builder.update(SampleRealm.at("dl", .key("k")), linkTo: SampleRealm.target)
        }
        expectTrue(!state.contains(unknown))
        expectEqual(state.value(at: SampleRealm.at("link")), .link(unknown))
        for field: ByteString in ["link", "mx", "any"] {
            expectTrue(
                state.failure { $0.update(SampleRealm.at(field), linkTo: ObjectAddress("None", .int(1))) } != nil)
            expectTrue(state.failure { $0.update(SampleRealm.at(field), linkTo: ObjectAddress("E", .int(1))) } != nil)
            expectTrue(state.failure { $0.update(SampleRealm.at(field), linkTo: ObjectAddress("U", .int(1))) } != nil)
        }
        expectTrue(state.failure { $0.update(SampleRealm.at("link"), linkTo: SampleRealm.object) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("emb"), linkTo: SampleRealm.target) } != nil)
    }

    @Test func anEmbeddedObjectIsCreatedOnceAndRemovedByNull() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("emb"), .objectValue)
            builder.update(SampleRealm.at("emb", .key("v")), .int(3))
            builder.update(SampleRealm.at("emb"), .objectValue)
            builder.update(SampleRealm.at("emb", .key("inner")), .objectValue)
            builder.insert(SampleRealm.at("emb", .key("inner"), .key("nums"), .index(0)), .int(9), priorSize: 0)
            builder.increment(SampleRealm.at("emb", .key("inner"), .key("v")), 2)
        }
        expectEqual(state.value(at: SampleRealm.at("emb", .key("v"))), .int(3))
        expectEqual(state.value(at: SampleRealm.at("emb", .key("inner"), .key("nums"), .index(0))), .int(9))
        expectEqual(state.value(at: SampleRealm.at("emb", .key("inner"), .key("v"))), .int(2))
        try state.apply { $0.update(SampleRealm.at("emb"), .null) }
        expectEqual(state.value(at: SampleRealm.at("emb")), .null)
        expectTrue(state.failure { $0.update(SampleRealm.at("emb", .key("v")), .int(3)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("emb", .index(0)), .int(3)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("link", .key("back")), .null) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("link"), .objectValue) } != nil)
    }

    @Test(arguments: [PeerCompatibility.stockClients, .convergent])
    func creatingInAnOccupiedEntryDependsOnThePeers(compatibility: PeerCompatibility) throws {
        var state = try SampleRealm.make(compatibility)
        try state.apply { builder in
            builder.update(SampleRealm.at("demb", .key("k")), .objectValue)
            builder.update(SampleRealm.at("demb", .key("k"), .key("v")), .int(3))
            builder.update(SampleRealm.at("demb", .key("k")), .objectValue)
        }
        let value = state.value(at: SampleRealm.at("demb", .key("k"), .key("v")))
        expectEqual(value, .int(compatibility == .stockClients ? 0 : 3))
    }

    @Test func dictionaryEntriesComeAndGo() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("di", .key("a")), .int(1))
            builder.update(SampleRealm.at("di", .key("b")), .int(2))
            builder.update(SampleRealm.at("di", .key("a")), .erased)
            builder.update(SampleRealm.at("di", .key("never")), .erased)
            builder.update(SampleRealm.at("ndi", .key("n")), .null)
            builder.update(SampleRealm.at("demb", .key("n")), .null)
        }
        expectEqual(state.value(at: SampleRealm.at("di")), .dictionary(["b": .int(2)]))
        expectEqual(state.value(at: SampleRealm.at("ndi")), .dictionary(["n": .null]))
        expectTrue(state.failure { $0.update(SampleRealm.at("di", .key("a")), .null) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("di", .key("b")), .string("")) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("di", .key("a")), .list) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("di", .key("a")), .objectValue) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("di", .index(0)), .int(1)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("demb", .key("gone"), .key("v")), .int(1)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("mx"), .erased) } != nil)
    }

    @Test func incrementsWrapAndSkipNull() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(.max))
            builder.increment(SampleRealm.at("i"), 2)
            builder.increment(SampleRealm.at("ni"), 2)
            builder.increment(SampleRealm.at("mx"), 2)
        }
        expectEqual(state.value(at: SampleRealm.at("i")), .int(.min + 1))
        expectEqual(state.value(at: SampleRealm.at("ni")), .null)
        expectEqual(state.value(at: SampleRealm.at("mx")), .null)
        try state.apply { builder in
            builder.update(SampleRealm.at("mx"), .int(40))
            builder.increment(SampleRealm.at("mx"), 2)
        }
        expectEqual(state.value(at: SampleRealm.at("mx")), .int(42))
        try state.apply { $0.update(SampleRealm.at("mx"), .bool(true)) }
        expectTrue(state.failure { $0.increment(SampleRealm.at("mx"), 2) } != nil)
        expectTrue(state.failure { $0.increment(SampleRealm.at("s"), 2) } != nil)
        expectTrue(state.failure { $0.increment(SampleRealm.at("li"), 2) } != nil)
        expectTrue(state.failure { $0.increment(SampleRealm.at("di", .key("k")), 2) } != nil)
    }
}
