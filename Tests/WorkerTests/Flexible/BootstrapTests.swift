import Changesets
import RealmState
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing
import Views

@testable import Worker

/// The data of subscription sets, page by page.
@Suite struct BootstrapTests {
    private typealias Items = FlexibleItems

    private func owner(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
        var client = try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
        if session == 1 {
            try client.make(Items.schema(), at: 1)
            try await client.upload(to: harness)
        }
        try await client.download(from: harness)
        return client
    }

    @Test func aPartlySentSetIsForgottenBeforeItComesAgain() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0, 2]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try writer.write(at: 11, Items.create(2, .init(owner: 0, a: 2)))
        try await writer.upload(to: harness)

        var reader = try await owner(harness, 2)
        // The first page has object 1; then the connection is lost.
        try await expectTrue(
            reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 1, between: { false }) == nil)
        try writer.write(at: 12, Items.set(1, "owner", 2))
        try await writer.upload(to: harness)

        try await reader.connect(to: harness, session: 3, user: "u2")
        try await expectEqual(reader.bootstrap(1, Items.query([0]), from: harness), ViewingClient.mustReconnect)
        // A client that is not sure to have heard that has to be told again.
        try await reader.connect(to: harness, session: 4, user: "u2")
        try await expectEqual(reader.bootstrap(1, Items.query([0]), from: harness), ViewingClient.mustReconnect)
        try await reader.leave(harness, user: "u2")
        try await reader.connect(to: harness, session: 5, user: "u2")
        try await expectTrue(reader.bootstrap(1, Items.query([0]), from: harness) == nil)
        expectEqual(Items.items(reader.state), [2: .init(owner: 0, a: 2)])
    }

    @Test func aSetThatIsAskedForAnewInOrderComesAtOnce() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try await writer.upload(to: harness)
        var reader = try await owner(harness, 2)
        try await expectTrue(
            reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 1, between: { false }) == nil)
        try await reader.leave(harness, user: "u2")
        try await reader.connect(to: harness, session: 3, user: "u2")
        try await expectTrue(reader.bootstrap(1, Items.query([0]), from: harness) == nil)
        expectEqual(Items.items(reader.state), [1: .init(owner: 0, a: 1)])
    }

    /// Changes that others have made while a client was away are not sent to it by the rights that its user had then,
    /// however far behind it is.
    @Test(arguments: [8 << 20, 0], [false, true])
    func changesMissedWhileAwayComeByTheNewRole(maxArrears: Int, gains: Bool) async throws {
        var limits = WorkerLimits()
        limits.maxViewArrears = maxArrears
        let harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        let (all, some) = (
            try Items.roles(reads: [0, 1, 2], writes: []), try Items.roles(reads: [0, 1], writes: [])
        )
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 1, a: 1)))
        try writer.write(at: 11, Items.create(2, .init(owner: 2, a: 2)))
        try await writer.upload(to: harness)
        var reader = try await ViewingClient.join(harness, session: 2, user: "u2", roles: gains ? some : all)
        try await reader.download(from: harness)
        try await expectTrue(reader.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        let sent = reader.received.count

        try writer.write(at: 12, Items.create(3, .init(owner: 2, a: 3)))
        try writer.write(at: 13, Items.set(1, "a", 4))
        try await writer.upload(to: harness)
        reader.roles = gains ? all : some
        try await reader.connect(to: harness, session: 3, user: "u2")
        let readable: Set<Int64> = gains ? [0, 1, 2] : [0, 1]
        try expectTrue(Items.owners(in: Array(reader.received[sent...])).isSubset(of: readable))
        expectEqual(
            Items.items(reader.state), (try await Items.items(harness)).filter { readable.contains($0.value.owner) })
    }

    /// A client's position does not tell by which roles it was sent the set that it says it has.
    @Test(arguments: 1...3) func objectsThatNewRolesShowComeAgainIfLost(after pages: Int) async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 1, a: 1)))
        try writer.write(at: 11, Items.create(2, .init(owner: 2, a: 2)))
        try await writer.upload(to: harness)
        var reader = try await ViewingClient.join(
            harness, session: 2, user: "u2", roles: try Items.roles(reads: [0, 1], writes: []))
        try await reader.download(from: harness)
        try await expectTrue(reader.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        try await expectEqual(harness.record().latest.version, reader.cursor)

        reader.roles = try Items.roles(reads: [0, 1, 2], writes: [])
        var page = 0
        let isUp = try await reader.connect(to: harness, session: 3, user: "u2", maxBytes: 1_000) {
            page += 1
            return page < pages
        }
        expectEqual(isUp, (pages > 2))
        try await reader.connect(to: harness, session: 4, user: "u2")
        expectEqual(Items.items(reader.state), (try await Items.items(harness)))
        try writer.write(at: 12, Items.set(2, "a", 3))
        try await writer.upload(to: harness)
        try await reader.download(from: harness)
        expectEqual(Items.items(reader.state), (try await Items.items(harness)))
    }

    @Test func pagesReadTheHistorySinceTheyBeganOnce() async throws {
        var limits = WorkerLimits()
        limits.maxRecentHistoryBytes = 0
        let store = CountingStore()
        let harness = try await OwnerHarness.make(
            limits: limits, on: store, realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0]), from: harness) == nil)
        for key in 1...40 as ClosedRange<Int64> {
            try writer.write(at: 10, Items.create(key, .init(owner: 0, a: 1)))
        }
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        var reader = try await owner(harness, 2)
        let before = reader.pages
        var isFirst = true
        let refusal = try await reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 1) {
            guard isFirst else { return true }
            isFirst = false
            for key in 1...30 as ClosedRange<Int64> { try writer.write(at: 20, Items.set(key, "a", 2)) }
            try await writer.upload(to: harness)
            store.historyRead.withLock { $0 = 0 }
            return true
        }
        expectTrue(refusal == nil && reader.pages - before > 10)
        // By the pages once, and by the last one that brings it.
        let read = store.historyRead.withLock { $0 }
        expectTrue((30...60).contains(read), "\(read) versions were read")
        expectEqual(Items.items(reader.state), (try await Items.items(harness)))
    }

    /// A client has made an object without a connection, and its new view has another object of the same key: the
    /// client is sent the other one, which others erase before the data has come. What erases that one at the client
    /// erases the client's own with it.
    @Test(arguments: [false, true])
    func anObjectOfOnesOwnSurvivesAnotherOfItsKeyThatComesAndGoes(uploadsBetween: Bool) async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        try writer.write(at: 9, Items.create(1, .init(owner: 1, a: 1)))
        try await writer.upload(to: harness)
        var author = try await owner(harness, 2)
        try await expectTrue(author.bootstrap(1, Items.query([0]), from: harness) == nil)
        try writer.write(at: 10, Items.create(5, .init(owner: 1, a: 7)))
        try writer.write(at: 11, Items.create(9, .init(owner: 1, a: 9)))
        try author.write(at: 20, Items.create(5, .init(owner: 0, a: 3)))
        try await writer.upload(to: harness)
        var pages = 0
        // What a client uploads meanwhile goes beside its download.
        var beside = author
        let refusal = try await author.bootstrap(2, Items.query([0, 1]), from: harness, maxBytes: 1) {
            pages += 1
            // Key 5 is there in the second page.
            guard pages == 2 else { return true }
            try writer.write(at: 30, Items.erase(5))
            try await writer.upload(to: harness)
            if uploadsBetween { try await beside.upload(to: harness) }
            return true
        }
        expectTrue(refusal == nil && pages >= 2)
        try author.write(at: 40, Items.set(9, "a", 10))
        try await author.upload(to: harness)
        try await author.download(from: harness)
        try await author.upload(to: harness)
        try await author.download(from: harness)
        let items = try await Items.items(harness)
        expectEqual(items[5], .init(owner: 0, a: 3))
        expectEqual(Items.items(author.state), items)
    }

    // MARK: Far behind

    /// A reader of owner 0's items who missed much: some of them changed, some went, others came.
    private func farBehind(
        protocolVersion: Int
    ) async throws -> (harness: OwnerHarness, reader: ViewingClient) {
        var limits = WorkerLimits()
        limits.maxViewArrears = 2_000
        let harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        try await expectTrue(writer.bootstrap(1, Items.query([0, 1]), from: harness) == nil)
        for key in 1...60 as ClosedRange<Int64> {
            try writer.write(at: 10, Items.create(key, .init(owner: key <= 40 ? 0 : 1, a: 1)))
        }
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        var reader = try await ViewingClient.join(
            harness, session: 2, user: "u2", roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]),
            protocolVersion: protocolVersion)
        try await expectTrue(reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 100_000) == nil)
        for key in 1...10 as ClosedRange<Int64> { try writer.write(at: 20, Items.set(key, "a", 2)) }
        for key in 11...20 as ClosedRange<Int64> { try writer.write(at: 20, Items.erase(key)) }
        for key in 21...30 as ClosedRange<Int64> { try writer.write(at: 20, Items.set(key, "owner", 1)) }
        for key in 41...50 as ClosedRange<Int64> { try writer.write(at: 20, Items.set(key, "owner", 0)) }
        for key in 61...70 as ClosedRange<Int64> { try writer.write(at: 20, Items.create(key, .init(owner: 0, a: 3))) }
        try await writer.upload(to: harness)
        return (harness, reader)
    }

    private func view(_ harness: OwnerHarness) async throws -> [Int64: Items.Item] {
        try await Items.items(harness).filter { $0.value.owner == 0 }
    }

    @Test func changesAClientFarBehindMissedComeInPages() async throws {
        let (harness, behind) = try await farBehind(protocolVersion: 14)
        var reader = behind
        // Written meanwhile, to what changed, what went, and what stayed as it was.
        try reader.write(at: 30, Items.set(1, "a", 9))
        try reader.write(at: 30, Items.set(12, "a", 9))
        try reader.write(at: 30, Items.set(35, "a", 9))
        try reader.write(at: 30, Items.create(90, .init(owner: 0, a: 9)))
        let pages = reader.pages
        try await reader.download(from: harness)
        expectTrue(reader.sessionsEnded == 1 && reader.pages - pages > 3)
        try await reader.upload(to: harness)
        try await reader.download(from: harness)
        expectEqual(Items.items(reader.state), (try await view(harness)))
        expectTrue(Items.items(reader.state)[1]?.a == 9 && Items.items(reader.state)[35]?.a == 9)
        expectTrue(Items.items(reader.state)[90]?.a == 9 && Items.items(reader.state).count == 41)
        expectTrue(reader.told.isEmpty && reader.sessionsEnded == 1)
        // A new set is asked for as ever.
        try await expectTrue(reader.bootstrap(2, Items.query([0, 1]), from: harness) == nil)
        expectEqual(Items.items(reader.state), (try await Items.items(harness)))
    }

    /// An object that a client makes under a key whose object it has erased counts, though the changes that it has
    /// missed were sent to it in pages.
    @Test func objectsRemadeByAClientFarBehindAreKept() async throws {
        let (harness, behind) = try await farBehind(protocolVersion: 14)
        var reader = behind
        // The reader makes an object anew that others have changed, and one that they have left alone.
        for key in [1, 35] as [Int64] {
            try reader.write(at: 30, Items.erase(key))
            try reader.write(at: 31, Items.create(key, .init(owner: 0, a: 70 + key)))
        }
        try await reader.download(from: harness)
        expectEqual(reader.sessionsEnded, 1)
        try await reader.upload(to: harness)
        try await reader.download(from: harness)
        let items = try await view(harness)
        expectTrue(items[1] == .init(owner: 0, a: 71) && items[35] == .init(owner: 0, a: 105))
        expectTrue(Items.items(reader.state) == items && reader.told.isEmpty)
    }

    @Test func aSetThatAClientFarBehindAsksForComesAfterWhatItHasMissed() async throws {
        let (harness, behind) = try await farBehind(protocolVersion: 14)
        var reader = behind
        try await expectTrue(reader.bootstrap(2, Items.query([1]), from: harness) == nil)
        expectEqual(reader.sessionsEnded, 1)
        expectEqual(Items.items(reader.state), (try await Items.items(harness)).filter { $0.value.owner == 1 })
    }

    @Test func anOlderProtocolIsSentItVersionByVersion() async throws {
        let (harness, behind) = try await farBehind(protocolVersion: 13)
        var reader = behind
        let pages = reader.pages
        try await reader.download(from: harness)
        expectTrue(reader.sessionsEnded == 0 && reader.pages == pages)
        expectEqual(Items.items(reader.state), (try await view(harness)))
    }
}

/// What pages of bootstraps keep of the history that they have read.
@Suite struct RecentTouchesTests {
    private func slot(_ key: Int64) -> ObjectSlot { ObjectSlot(TableID(rawValue: 1), .int(key)) }

    @Test func noVersionIsReadTwice() {
        var touches = RecentTouches()
        expectEqual(touches.reach(back: 10, generation: 1, base: 0), 10)
        touches.add([slot(1), slot(2)], of: 11)
        touches.add([slot(1)], of: 12)
        // The next page, and a client that began later.
        expectEqual(touches.reach(back: 10, generation: 1, base: 0), 12)
        expectEqual(touches.reach(back: 11, generation: 1, base: 0), 12)
        expectTrue(touches.isTouched(slot(1), after: 11) && !touches.isTouched(slot(2), after: 11))
        expectTrue(touches.isTouched(slot(2), after: 10) && !touches.isTouched(slot(3), after: 0))
    }

    @Test func versionsMissingFromRecentTouchesAreReadAnew() {
        var touches = RecentTouches()
        _ = touches.reach(back: 10, generation: 1, base: 0)
        touches.add([slot(1)], of: 11)
        // A client that began earlier, another history, and versions that are dropped.
        expectEqual(touches.reach(back: 5, generation: 1, base: 0), 5)
        touches.add([slot(1)], of: 6)
        expectEqual(touches.reach(back: 5, generation: 2, base: 0), 5)
        touches.add([slot(1)], of: 6)
        expectEqual(touches.reach(back: 9, generation: 2, base: 8), 9)
        expectTrue(!touches.isTouched(slot(1), after: 0))
    }
}
