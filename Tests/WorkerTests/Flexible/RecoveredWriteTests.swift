import Changesets
import Messages
import RealmState
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// What a client in flexible mode recovers after a reset counts once, though the objects that it makes again are in the realm already, and out
/// of its sight: nobody has done wrong, so nobody hears of it.
@Suite struct RecoveredWriteTests {
    private typealias Items = FlexibleItems
    private static let all = Set<Int64>([0, 1, 2])

    enum Reset: CaseIterable { case ofAll, ofOne }

    /// A client whose view has the items of owner 0, and another one, which has all.
    private struct Pair {
        let harness: OwnerHarness
        var author: ViewingClient
        var other: ViewingClient

        static func make(reads: Set<Int64> = all, hidesA: Bool = false) async throws -> Pair {
            let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
            var other = try await ViewingClient.join(
                harness, session: 1, user: "u1", roles: try Items.roles(reads: all, writes: all))
            try other.make(Items.schema(), at: 1)
            try await other.upload(to: harness)
            try await other.download(from: harness)
            try await expectTrue(other.bootstrap(1, Items.query(all), from: harness) == nil)
            var author = try await ViewingClient.join(
                harness, session: 2, user: "u2", roles: try Items.roles(reads: reads, writes: reads, hidesA: hidesA))
            try await author.download(from: harness)
            try await expectTrue(author.bootstrap(1, Items.query([0]), from: harness) == nil)
            return Pair(harness: harness, author: author, other: other)
        }

        /// The author makes an item and puts it out of its view, and is not told that both have arrived.
        mutating func makeAndPutOut(_ key: Int64 = 5) async throws {
            try author.write(at: 10, Items.create(key, .init(owner: 0, a: 1)))
            try author.write(at: 11, Items.set(key, "owner", 1))
            try await author.upload(to: harness)
        }

        /// Another client changes the item.
        mutating func change(_ key: Int64 = 5, _ field: ByteString = "a", to value: Int64) async throws {
            try await other.download(from: harness)
            try other.write(at: 12, Items.set(key, field, value))
            try await other.upload(to: harness)
        }

        mutating func reset(_ reset: Reset, sayingSo: Bool = true) async throws {
            switch reset {
            case .ofAll:
                try await harness.send(
                    TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
            case .ofOne:
                try await harness.send(
                    ResetMessage(realm: harness.realm, clientFile: author.file.ident, campaign: "c-1", reason: nil))
            }
            author = try await author.reset(in: harness, sessions: 10, sayingSo: sayingSo)
        }

        mutating func settle() async throws {
            for _ in 0..<2 {
                try await author.upload(to: harness)
                try await author.download(from: harness)
            }
        }

        /// The author has heard of nothing, and has what is in its view.
        func expectQuiet(_ items: [Int64: Items.Item]) async throws {
            expectEqual(author.told.flatMap(\.updates).map(\.reason), [])
            expectEqual(Items.items(author.state), items.filter { $0.value.owner == 0 })
            try await expectEqual(Items.items(harness), items)
        }
    }

    @Test(arguments: Reset.allCases, [true, false])
    func anItemThatIsThereAsItsAuthorHasLeftItIsLeftAlone(_ reset: Reset, sayingSo: Bool) async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try await pair.reset(reset, sayingSo: sayingSo)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 1)])
    }

    @Test(arguments: Reset.allCases) func whatOthersHaveMadeOfTheItemStays(_ reset: Reset) async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try await pair.change(to: 7)
        try await pair.reset(reset)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 7)])
    }

    /// The item is as it was after a write of its author's, and not after the last one that was integrated.
    @Test func whatOthersHaveTakenBackStaysSo() async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try pair.author.write(at: 12, Items.set(5, "a", 2))
        try await pair.author.upload(to: pair.harness)
        try await pair.change(to: 1)
        try await pair.reset(.ofAll)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 1)])
    }

    /// The author goes on offline with an item that it has put out of its view itself, or that others have.
    @Test(arguments: [true, false]) func whatTheAuthorHasAddedSinceCounts(isPutOutByOthers: Bool) async throws {
        var pair = try await Pair.make()
        if isPutOutByOthers {
            try pair.author.write(at: 10, Items.create(5, .init(owner: 0, a: 1)))
            try await pair.author.upload(to: pair.harness)
            try await pair.change(5, "owner", to: 1)
        } else {
            try await pair.makeAndPutOut()
        }
        try pair.author.write(at: 20, Items.set(5, "a", 9))
        try await pair.reset(.ofAll)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 9)])
    }

    /// The author would have to reset once more, and again, since it would send the same again.
    @Test func whatDoesNotFitWhatOthersHaveMadeOfTheItemIsLeftOut() async throws {
        var pair = try await Pair.make()
        try pair.other.write(at: 2) {
            $0.instructions.append(
                .addColumn(
                    .init(
                        table: $0.strings.intern("Item"), field: $0.strings.intern("tags"), type: .int,
                        nullable: false, collection: .list)))
        }
        try await pair.other.upload(to: pair.harness)
        try await pair.author.download(from: pair.harness)
        try pair.author.write(at: 9, Items.create(5, .init(owner: 0, a: 1)))
        try pair.author.write(at: 10, Self.insert(1, at: 0))
        try pair.author.write(at: 11, Items.set(5, "owner", 1))
        try await pair.author.upload(to: pair.harness)
        try await pair.other.download(from: pair.harness)
        try pair.other.write(at: 12, Self.insert(2, at: 1))
        try await pair.other.upload(to: pair.harness)
        try await pair.other.download(from: pair.harness)
        try pair.author.write(at: 20, Self.insert(3, at: 1))
        try pair.author.write(at: 21, Items.set(5, "a", 9))
        try await pair.reset(.ofAll)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 9, tags: [1, 2])])
        pair.other = try await pair.other.reset(in: pair.harness, sessions: 20)
        let tags = try #require(pair.other.state.schema.table("Item")?.column("tags"))
        let item = try #require(pair.other.state.objects(of: "Item").first?.object)
        expectEqual(item[tags], .list([.int(1), .int(2)]))
    }

    private static func insert(_ tag: Int64, at index: UInt32) -> (inout Changeset) -> Void {
        { changeset in
            var path = FieldPath(
                table: changeset.strings.intern("Item"), object: .int(5), field: changeset.strings.intern("tags"))
            path.path.append(.index(index))
            changeset.instructions.append(.arrayInsert(path, value: .int(tag), priorSize: index))
        }
    }

    @Test func anItemThatTheAuthorTakesBackComesAsOthersHaveLeftIt() async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try pair.author.write(at: 20, Items.set(5, "owner", 0))
        try await pair.change(to: 7)
        try await pair.reset(.ofAll)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 0, a: 7)])
    }

    @Test func whatComesInSeveralUploadsCountsOnce() async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try pair.author.write(at: 20, Items.set(5, "a", 9))
        try await pair.change(5, "owner", to: 2)
        try await pair.reset(.ofAll)
        for _ in 0..<3 { try await pair.author.upload(to: pair.harness, atMost: 1) }
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 2, a: 9)])
    }

    @Test func anItemErasedAndMadeAgainSinceCounts() async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try pair.author.write(at: 20, Items.erase(5))
        try pair.author.write(at: 21, Items.create(5, .init(owner: 0, a: 3)))
        try await pair.change(to: 7)
        try await pair.reset(.ofAll)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 0, a: 3)])
    }

    /// A second reset before what the first one has recovered is uploaded.
    @Test func resetsInARowAreLookedBackOn() async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try await pair.change(to: 7)
        try await pair.reset(.ofAll)
        try await pair.harness.send(
            ResetMessage(realm: pair.harness.realm, clientFile: pair.author.file.ident, campaign: "c-2", reason: nil))
        pair.author = try await pair.author.reset(in: pair.harness, sessions: 20)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 7)])
    }

    /// The set that the item was made under was not in force yet, and is asked for again.
    @Test func whatTheAuthorHasAddedToAnItemInSightCounts() async throws {
        var pair = try await Pair.make()
        try await pair.author.bootstrap(2, Items.query([2]), from: pair.harness) { false }
        try pair.author.write(at: 10, Items.create(5, .init(owner: 2, a: 1)))
        try await pair.author.upload(to: pair.harness)
        try await pair.change(5, "owner", to: 0)
        try await pair.change(5, "owner", to: 2)
        try pair.author.write(at: 20, Items.set(5, "a", 9))
        try await pair.reset(.ofAll)
        try await expectTrue(pair.author.bootstrap(2, Items.query([2]), from: pair.harness) == nil)
        try await pair.settle()
        expectTrue(pair.author.told.flatMap(\.updates).isEmpty)
        try await expectEqual(Items.items(pair.harness), [5: .init(owner: 2, a: 9)])
        expectEqual(Items.items(pair.author.state), [5: .init(owner: 2, a: 9)])
    }

    /// The author has lost its change to a newer one, and recovers something older: stock clients then upload the change as it was written.
    @Test(arguments: Reset.allCases) func whatTheAuthorUploadsWithoutHavingItComesToItsCopy(_ reset: Reset) async throws
    {
        var pair = try await Pair.make()
        try pair.author.write(at: 10, Items.create(5, .init(owner: 0, a: 1)))
        try await pair.settle()
        try pair.author.write(at: 20, Items.create(6, .init(owner: 0, a: 1)))
        try pair.author.write(at: 21, Items.set(5, "a", 3))
        try await pair.other.download(from: pair.harness)
        try pair.other.write(at: 30, Items.set(5, "a", 9))
        try await pair.other.upload(to: pair.harness)
        try await pair.author.download(from: pair.harness)
        try await pair.reset(reset)
        expectEqual(Items.items(pair.author.state)[5], .init(owner: 0, a: 9))
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 0, a: 3), 6: .init(owner: 0, a: 1)])
    }

    /// The same, of an item that has left the author's view: nothing of it can have been recovered.
    @Test func whatTheAuthorHadLostBeforeItsResetIsLeftOut() async throws {
        var pair = try await Pair.make()
        try pair.author.write(at: 10, Items.create(5, .init(owner: 0, a: 1)))
        try await pair.settle()
        try pair.author.write(at: 20, Items.create(6, .init(owner: 0, a: 1)))
        try pair.author.write(at: 21, Items.set(5, "a", 3))
        try await pair.change(5, "owner", to: 1)
        try await pair.author.download(from: pair.harness)
        try await pair.reset(.ofAll)
        try await pair.settle()
        try await pair.expectQuiet([5: .init(owner: 1, a: 1), 6: .init(owner: 0, a: 1)])
    }

    // MARK: What is none

    /// The key is another item's, and the author was not told yet that its own does not count.
    @Test func aWriteThatDidNotCountBeforeTheResetDoesNotAfterIt() async throws {
        var pair = try await Pair.make()
        try pair.other.write(at: 3, Items.create(5, .init(owner: 1, a: 0)))
        try await pair.other.upload(to: pair.harness)
        try pair.author.write(at: 10, Items.create(5, .init(owner: 0, a: 1)))
        try await pair.author.upload(to: pair.harness)
        try await pair.reset(.ofAll)
        try await pair.settle()
        expectEqual(pair.author.told.flatMap(\.updates).count, 1)
        try await expectEqual(Items.items(pair.harness), [5: .init(owner: 1, a: 0)])
    }

    /// A new item of a key that is taken: its versions are later than those that the reset was about.
    @Test func aKeyThatIsTakenAfterTheResetIsStillToldOf() async throws {
        var pair = try await Pair.make()
        try await pair.makeAndPutOut()
        try await pair.reset(.ofAll)
        try await pair.settle()
        try pair.author.write(at: 30, Items.create(5, .init(owner: 0, a: 2)))
        try await pair.settle()
        expectEqual(pair.author.told.flatMap(\.updates).count, 1)
        try await expectEqual(Items.items(pair.harness), [5: .init(owner: 1, a: 1)])
    }

    /// Whether a write is undone must not tell what an object is that its author may not see, or not all of.
    @Test(arguments: [true, false]) func aGuessOfWhatIsHiddenIsUndoneLikeAnyOther(hidesA: Bool) async throws {
        var pair = try await Pair.make(reads: hidesA ? Self.all : [0, 2], hidesA: hidesA)
        try pair.other.write(at: 3, Items.create(5, .init(owner: 1, a: 0)))
        try await pair.other.upload(to: pair.harness)
        try pair.author.write(at: 10) {
            Items.create(5, owner: 0, a: nil)(&$0)
            Items.set(5, "owner", 1)(&$0)
        }
        try await pair.settle()
        expectEqual(pair.author.told.flatMap(\.updates).count, 1)
        try await expectEqual(Items.items(pair.harness), [5: .init(owner: 1, a: 0)])
    }
}
