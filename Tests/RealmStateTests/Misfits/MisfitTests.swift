import Changesets
import RealmState
import TestSupport
import Testing

/// What stock clients cannot apply is found in changesets and in objects, is never recorded or replayed, and can be taken out.
@Suite struct MisfitTests {
    private typealias Sample = SampleRealm
    private typealias Build = @Sendable (inout ChangesetBuilder) -> Void

    private static let badText = ByteString([0x61, 0xFF])

    private static func misfits(_ build: Build) throws -> [Misfit] {
        var builder = ChangesetBuilder()
        build(&builder)
        return builder.changeset.misfits(in: try Sample.make().schema)
    }

    private static let unfit: [Build] = [
        { $0.update(Sample.at("di", .key("a.b")), .int(1)) },
        { $0.update(Sample.at("di", .key("$a")), .int(1)) },
        { $0.update(Sample.at("di", .key("a.b")), .erased) },
        { $0.update(Sample.at("dm", .key("x"), .key("a.b")), .int(1)) },
        { $0.update(Sample.at("mx", .key(".")), .int(1)) },
        { $0.update(Sample.at("lm", .index(0), .key("$")), .int(1)) },
        { $0.update(Sample.at("demb", .key("a.b")), .objectValue) },
        { $0.update(Sample.at("demb", .key("a.b"), .key("v")), .int(1)) },
        { $0.clear(Sample.at("dm", .key("a.b")), .list) },
        { $0.insert(Sample.at("dm", .key("a.b"), .index(0)), .int(1), priorSize: 0) },
        { $0.update(Sample.at("di", .key(badText)), .int(1)) },
        { $0.update(Sample.at("s"), .string(badText)) },
        { $0.insert(Sample.at("lm", .index(0)), .string(badText), priorSize: 0) },
        { $0.setInsert(Sample.at("nss"), .string(badText)) },
        { $0.create("U", .string(badText)) },
        { $0.update(Sample.at("link"), linkTo: ObjectAddress("U", .string(badText))) },
    ]

    private static let fit: [Build] = [
        { $0.update(Sample.at("di", .key("a$b")), .int(1)) },
        { $0.update(Sample.at("di", .key("")), .int(1)) },
        { $0.update(Sample.at("dm", .key("ä"), .key("b")), .int(1)) },
        // Fields of embedded objects may be called as they like.
        { $0.update(Sample.at("emb", .key("x.y")), .int(1)) },
        { $0.update(Sample.at("demb", .key("k"), .key("$v")), .int(1)) },
        { $0.update(Sample.at("s"), .string("a.b")) },
        { $0.create("U", .string("a.b")) },
        // What was there before the rule may go.
        { $0.setErase(Sample.at("nss"), .string(badText)) },
        { $0.update(Sample.at("unknown", .key("a.b")), .int(1)) },
    ]

    @Test(arguments: unfit.indices) func isFound(_ index: Int) throws {
        let found = try Self.misfits(Self.unfit[index])
        expectEqual(found.count, 1, "\(found)")
    }

    @Test(arguments: fit.indices) func isNone(_ index: Int) throws {
        let found = try Self.misfits(Self.fit[index])
        expectTrue(found.isEmpty, "\(found)")
    }

    @Test func misfitsAreDescribedInTheReferencesWords() throws {
        let found = try Self.misfits { $0.update(Sample.at("di", .key("a.b")), .int(1)) }
        expectEqual(found.first?.description, "Dictionary::insert: key must not contain '.': \"a.b\" at T.di")
        expectEqual(ByteString("$a").dictionaryKeyFault, "Dictionary::insert: key must not start with '$': \"$a\"")
    }

    @Test func aClassThatTheChangesetMakesIsLookedAt() throws {
        var builder = ChangesetBuilder()
        builder.table("N")
        builder.column("N", "d", .int, .dictionary)
        builder.create("N", .int(1))
        builder.update(FieldAddress(ObjectAddress("N", .int(1)), "d", [.key("a.b")]), .int(1))
        var after = try Sample.make()
        try after.apply(builder.changeset)
        expectTrue(builder.changeset.misfits(in: try Sample.make().schema).isEmpty)
        expectEqual(builder.changeset.misfits(in: after.schema).count, 1)
        // A class that is taken away again is known from before.
        expectEqual(builder.changeset.misfits(in: try Sample.make().schema, after.schema).count, 1)
    }

    // MARK: Said otherwise

    private func applicable(
        _ state: RealmState, _ build: (inout ChangesetBuilder) -> Void
    ) throws -> (before: Changeset, after: Changeset) {
        var builder = ChangesetBuilder()
        build(&builder)
        let after = state.applicable(builder.changeset)
        var (one, other) = (state, state)
        try one.apply(builder.changeset)
        try other.apply(try Changeset(parsing: after.encoded()))
        expectEqual(StateDump.digest(of: one), StateDump.digest(of: other))
        return (builder.changeset, after)
    }

    /// The reference ends its process at the erasure of null from a typed set, which its recorder makes all the same.
    @Test func nullIsErasedFromATypedSetByOtherWords() throws {
        var state = try Sample.make()
        try state.apply { builder in
            for value in [Payload.null, .string("a"), .string("b")] { builder.setInsert(Sample.at("nss"), value) }
            builder.setInsert(Sample.at("sm"), .null)
        }
        let (_, after) = try applicable(state) { builder in
            builder.setErase(Sample.at("nss"), .null)
            // Again, when it is gone; and from a mixed one, where it is allowed.
            builder.setErase(Sample.at("nss"), .null)
            builder.setErase(Sample.at("sm"), .null)
            builder.setErase(Sample.at("nss"), .string("b"))
        }
        expectEqual(after.instructions.map(\.name), ["Clear", "SetInsert", "SetInsert", "SetErase", "SetErase"])
    }

    /// A merge may bring such a changeset, whose result the reference refuses.
    @Test func anEntryThatIsNotThereIsMadeBeforeItIsCleared() throws {
        let (_, after) = try applicable(try Sample.make()) { builder in
            builder.clear(Sample.at("dm", .key("a")), .dictionary)
            builder.update(Sample.at("dm", .key("a"), .key("x")), .int(1))
        }
        expectEqual(after.instructions.map(\.name), ["Update", "Clear", "Update"])
    }

    @Test func allElseStaysAsItIs() throws {
        var state = try Sample.make()
        let (_, bytes) = try state.record {
            try $0.set(Sample.at("dm", .key("a")), to: .dictionary(["x": .list([.int(1)])]))
            try $0.clear(Sample.at("dm", .key("a"), .key("x")))
            try $0.insertIntoSet(.null, in: Sample.at("nss"))
        }
        let recorded = try Changeset(parsing: bytes)
        try expectEqual(Sample.make().applicable(recorded), recorded)
        // What cannot be applied is refused as it came.
        var builder = ChangesetBuilder()
        builder.setErase(Sample.at("nss"), .null)
        builder.increment(Sample.at("s"), 1)
        expectEqual(state.applicable(builder.changeset), builder.changeset)
    }

    // MARK: Mending

    /// A state as a release before left it.
    private static func spoilt() throws -> RealmState {
        var state = try Sample.make()
        try state.apply { builder in
            builder.update(Sample.at("di", .key("a.b")), .int(1))
            builder.update(Sample.at("di", .key("c")), .int(2))
            builder.update(Sample.at("dm", .key("k")), .dictionary)
            builder.update(Sample.at("dm", .key("k"), .key("$x")), .int(1))
            builder.update(Sample.at("dm", .key("k"), .key("y")), .string("kept"))
            builder.update(Sample.at("dm", .key("t")), .string(badText))
            builder.update(Sample.at("mx"), .list)
            builder.insert(Sample.at("mx", .index(0)), .dictionary, priorSize: 0)
            builder.insert(Sample.at("mx", .index(1)), .string(badText), priorSize: 1)
            builder.insert(Sample.at("mx", .index(2)), .int(5), priorSize: 2)
            builder.update(Sample.at("mx", .index(0), .key("x.y")), .list)
            builder.update(Sample.at("mx", .index(0), .key("z")), .list)
            builder.insert(Sample.at("mx", .index(0), .key("z"), .index(0)), .int(7), priorSize: 0)
            builder.update(Sample.at("demb", .key("a.b")), .objectValue)
            builder.update(Sample.at("demb", .key("ok")), .objectValue)
            builder.update(Sample.at("demb", .key("ok"), .key("v")), .int(3))
            builder.insert(Sample.at("demb", .key("ok"), .key("nums"), .index(0)), .int(4), priorSize: 0)
            builder.update(Sample.at("s"), .string(badText))
            builder.setInsert(Sample.at("nss"), .string(badText))
            builder.setInsert(Sample.at("nss"), .string("b"))
            builder.update(Sample.at("i"), .int(9))
        }
        return state
    }

    @Test func mendingTakesOutWhatNoClientCanApplyAndKeepsTheRest() throws {
        var state = try Self.spoilt()
        let object = try #require(state.object(Sample.object))
        let found = object.misfits(Sample.object, in: state.schema)
        expectEqual(Set(found.map(\.field)), ["di", "dm", "mx", "demb", "s", "nss"])
        expectEqual(found.count, 8)

        var builder = StateChangesets(schema: state.schema)
        var changesets = builder.append(mending: Sample.object, object)
        if let rest = builder.finish() { changesets.append(rest) }
        for changeset in changesets {
            expectTrue(changeset.misfits(in: state.schema).isEmpty)
            try state.apply(try Changeset(parsing: changeset.encoded()))
        }
        let mended = try #require(state.object(Sample.object))
        expectTrue(mended.misfits(Sample.object, in: state.schema).isEmpty)
        expectEqual(state.value(at: Sample.at("di")), .dictionary(["c": .int(2)]))
        expectEqual(
            state.value(at: Sample.at("dm")),
            .dictionary(["k": .dictionary(["y": .string("kept")]), "t": .string("a\u{FFFD}")]))
        expectEqual(
            state.value(at: Sample.at("mx")),
            .list([.dictionary(["z": .list([.int(7)])]), .string("a\u{FFFD}"), .int(5)]))
        expectEqual(state.value(at: Sample.at("demb", .key("ok"), .key("v"))), .int(3))
        expectEqual(state.value(at: Sample.at("demb", .key("ok"), .key("nums"))), .list([.int(4)]))
        expectTrue(state.value(at: Sample.at("demb", .key("a.b"))) == nil)
        expectEqual(state.value(at: Sample.at("s")), .string("a\u{FFFD}"))
        expectEqual(state.value(at: Sample.at("nss")), .set([.string("a\u{FFFD}"), .string("b")]))
        expectEqual(state.value(at: Sample.at("i")), .int(9))
        // Nothing is left to do.
        expectTrue(builder.append(mending: Sample.object, mended).isEmpty && builder.finish() == nil)
    }

    // MARK: Recording and replaying

    @Test func noWayOfRecordingMakesSuchKeys() throws {
        let bad = Value.dictionary(["a.b": .int(1)])
        var state = try Self.spoilt()
        func refusal(_ body: (inout RecordingTransaction) throws -> Void) -> String? {
            do {
                _ = try state.record { try body(&$0) }
                return nil
            } catch {
                return (error as? RecordingError)?.message
            }
        }
        let ways: [(inout RecordingTransaction) throws -> Void] = [
            { try $0.set(Sample.at("di", .key("a.b")), to: .int(1)) },
            { try $0.set(Sample.at("di"), to: bad) },
            { try $0.set(Sample.at("mx"), to: .list([bad])) },
            { try $0.set(Sample.at("dm", .key("q")), to: bad) },
            { try $0.insert(bad, at: Sample.at("lm", .index(0))) },
            { try $0.removeKey(Sample.at("di", .key("a.b"))) },
            { try $0.set(Sample.at("demb", .key("a.b"), .key("v")), to: .int(1)) },
        ]
        for way in ways {
            expectEqual(refusal(way)?.hasPrefix("Dictionary::insert: key must not contain '.'"), true)
        }
        // An app that has such an entry can replace the whole dictionary.
        let (_, changeset) = try state.record { try $0.set(Sample.at("di"), to: .dictionary(["c": .int(2)])) }
        try expectTrue(Changeset(parsing: changeset).misfits(in: state.schema).isEmpty)
        expectEqual(state.value(at: Sample.at("di")), .dictionary(["c": .int(2)]))
    }

    @Test func anObjectIsDeletedThatSuchAnEntryLinksTo() throws {
        var state = try Sample.make()
        try state.apply { $0.update(Sample.at("dl", .key("a.b")), linkTo: Sample.target) }
        let (_, changeset) = try state.record { try $0.deleteObject(Sample.target) }
        try expectTrue(Changeset(parsing: changeset).misfits(in: state.schema).isEmpty)
        expectTrue(!state.contains(Sample.target))
    }

    @Test func aClientResetRecoversEverythingButThat() throws {
        var local = try Sample.make()
        var builder = ChangesetBuilder()
        builder.update(Sample.at("i"), .int(5))
        builder.update(Sample.at("di", .key("a.b")), .int(1))
        builder.update(Sample.at("di", .key("ok")), .int(2))
        builder.update(Sample.at("dm", .key("a.b")), .dictionary)
        builder.clear(Sample.at("dm", .key("a.b")), .dictionary)
        builder.update(Sample.at("dm", .key("a.b"), .key("x")), .int(3))
        // A list that cannot be followed is copied as it is in the end.
        builder.update(Sample.at("lm", .index(0)), .dictionary, priorSize: 1)
        builder.update(Sample.at("lm", .index(0), .key("a.b")), .int(1))
        builder.update(Sample.at("lm", .index(0), .key("c")), .int(2))
        var fresh = try Sample.make()
        for index in 0...1 {
            var state = index == 0 ? local : fresh
            try state.apply { $0.insert(Sample.at("lm", .index(0)), .int(0), priorSize: 0) }
            if index == 0 { local = state } else { fresh = state }
        }
        let server = fresh
        try local.apply(builder.changeset)
        var replay = ChangesetReplay(onto: fresh, local: local)
        let changeset = try Changeset(parsing: try replay.replay(builder.changeset))
        expectTrue(changeset.misfits(in: server.schema).isEmpty)
        var state = server
        try state.apply(changeset)
        expectEqual(state.value(at: Sample.at("i")), .int(5))
        expectEqual(state.value(at: Sample.at("di")), .dictionary(["ok": .int(2)]))
        expectEqual(state.value(at: Sample.at("dm")), .dictionary([:]))
        expectEqual(state.value(at: Sample.at("lm")), .list([.dictionary(["c": .int(2)])]))
        expectTrue(replay.statistics.droppedPath >= 4)
    }

    /// The reference takes no null into lists and sets of links, whatever their columns say.
    @Test func listsOfLinksHaveNoNull() throws {
        var state = try Sample.make()
        try state.apply { $0.column("T", "nll", .link, nullable: true, .list, target: "U") }
        try state.apply { $0.column("T", "nsl", .link, nullable: true, .set, target: "U") }
        expectTrue(state.failure { $0.insert(Sample.at("nll", .index(0)), .null, priorSize: 0) } != nil)
        expectTrue(state.failure { $0.setInsert(Sample.at("nsl"), .null) } != nil)
        expectTrue(state.failure { $0.update(Sample.at("dl", .key("a")), .null) } == nil)
        expectTrue(state.failure { $0.update(Sample.at("link"), .null) } == nil)
    }
}
