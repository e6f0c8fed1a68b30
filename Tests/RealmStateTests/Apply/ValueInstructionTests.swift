import Changesets
import RealmState
import Testing

@Suite struct ValueInstructionTests {
    @Test func scalarsNeedExactlyTheirType() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(1))
            builder.update(SampleRealm.at("ni"), .null)
            builder.update(SampleRealm.at("mx"), .string("x"))
        }
        #expect(state.value(at: SampleRealm.at("mx")) == .string("x"))
        #expect(state.failure { $0.update(SampleRealm.at("i"), .bool(true)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("i"), .double(bits: 0)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("i"), .null) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("i"), linkTo: SampleRealm.target) } != nil)
        for marker: Payload in [.list, .dictionary, .set, .objectValue, .erased] {
            #expect(state.failure { $0.update(SampleRealm.at("i"), marker) } != nil)
        }
        #expect(state.failure { $0.update(SampleRealm.at("_id"), .int(2)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("none"), .int(2)) } != nil)
        for field: ByteString in ["li", "di", "si"] {
            #expect(state.failure { $0.update(SampleRealm.at(field), .int(2)) } != nil)
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
        #expect(!state.contains(unknown))
        #expect(state.value(at: SampleRealm.at("link")) == .link(unknown))
        for field: ByteString in ["link", "mx", "any"] {
            #expect(state.failure { $0.update(SampleRealm.at(field), linkTo: ObjectAddress("None", .int(1))) } != nil)
            #expect(state.failure { $0.update(SampleRealm.at(field), linkTo: ObjectAddress("E", .int(1))) } != nil)
            #expect(state.failure { $0.update(SampleRealm.at(field), linkTo: ObjectAddress("U", .int(1))) } != nil)
        }
        #expect(state.failure { $0.update(SampleRealm.at("link"), linkTo: SampleRealm.object) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("emb"), linkTo: SampleRealm.target) } != nil)
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
        #expect(state.value(at: SampleRealm.at("emb", .key("v"))) == .int(3))
        #expect(state.value(at: SampleRealm.at("emb", .key("inner"), .key("nums"), .index(0))) == .int(9))
        #expect(state.value(at: SampleRealm.at("emb", .key("inner"), .key("v"))) == .int(2))
        try state.apply { $0.update(SampleRealm.at("emb"), .null) }
        #expect(state.value(at: SampleRealm.at("emb")) == .null)
        #expect(state.failure { $0.update(SampleRealm.at("emb", .key("v")), .int(3)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("emb", .index(0)), .int(3)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("link", .key("back")), .null) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("link"), .objectValue) } != nil)
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
        #expect(value == .int(compatibility == .stockClients ? 0 : 3))
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
        #expect(state.value(at: SampleRealm.at("di")) == .dictionary(["b": .int(2)]))
        #expect(state.value(at: SampleRealm.at("ndi")) == .dictionary(["n": .null]))
        #expect(state.failure { $0.update(SampleRealm.at("di", .key("a")), .null) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("di", .key("b")), .string("")) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("di", .key("a")), .list) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("di", .key("a")), .objectValue) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("di", .index(0)), .int(1)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("demb", .key("gone"), .key("v")), .int(1)) } != nil)
        #expect(state.failure { $0.update(SampleRealm.at("mx"), .erased) } != nil)
    }

    @Test func incrementsWrapAndSkipNull() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(.max))
            builder.increment(SampleRealm.at("i"), 2)
            builder.increment(SampleRealm.at("ni"), 2)
            builder.increment(SampleRealm.at("mx"), 2)
        }
        #expect(state.value(at: SampleRealm.at("i")) == .int(.min + 1))
        #expect(state.value(at: SampleRealm.at("ni")) == .null)
        #expect(state.value(at: SampleRealm.at("mx")) == .null)
        try state.apply { builder in
            builder.update(SampleRealm.at("mx"), .int(40))
            builder.increment(SampleRealm.at("mx"), 2)
        }
        #expect(state.value(at: SampleRealm.at("mx")) == .int(42))
        try state.apply { $0.update(SampleRealm.at("mx"), .bool(true)) }
        #expect(state.failure { $0.increment(SampleRealm.at("mx"), 2) } != nil)
        #expect(state.failure { $0.increment(SampleRealm.at("s"), 2) } != nil)
        #expect(state.failure { $0.increment(SampleRealm.at("li"), 2) } != nil)
        #expect(state.failure { $0.increment(SampleRealm.at("di", .key("k")), 2) } != nil)
    }
}
