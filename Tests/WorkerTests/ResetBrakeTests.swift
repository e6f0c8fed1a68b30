import MemoryStorage
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct ResetBrakeTests {
    // MARK: The rule

    private func key(_ ident: Int) -> ClientFileKey {
        ClientFileKey(realm: RealmID(1), ident: FileIdent(UInt64(ident)))
    }

    /// How many of these resets go on before the first is held; nil if none is.
    private func goOn(of resets: Int, clientFiles: Int, apart milliseconds: UInt64 = 1) -> Int? {
        var brake = ResetBrake(ResetHoldRecord(app: "tasks", heldSince: nil, asked: 0, clientFiles: 0))
        let limits = WorkerLimits()
        for number in 0..<resets {
            let now = 1_000_000 + UInt64(number) * milliseconds
            if brake.needsCount(limits: limits, at: now, now: now) {
                // What was asked before is live no more.
                brake.count(clientFiles - number, at: now)
            }
            if case .hold = brake.verdict(on: key(number), limits: limits, at: now, now: now) { return number }
        }
        return nil
    }

    @Test func tenAlwaysMayAndThenAFifthOfAll() {
        expectTrue(goOn(of: 10, clientFiles: 10) == nil)
        expectEqual(goOn(of: 11, clientFiles: 11), 10)
        expectTrue(goOn(of: 200, clientFiles: 1_000) == nil)
        expectEqual(goOn(of: 300, clientFiles: 1_000).map { (199...215).contains($0) }, true)
        // An empty copy.
        expectEqual(goOn(of: 300, clientFiles: 0), 10)
    }

    @Test func resetsSpreadOverMoreThanAMinuteAreNotHeld() {
        expectTrue(goOn(of: 500, clientFiles: 100, apart: 6_000) == nil)
    }

    @Test func oneClientThatComesAgainCountsOnce() {
        var brake = ResetBrake(ResetHoldRecord(app: "tasks", heldSince: nil, asked: 0, clientFiles: 0))
        for now in UInt64(0)..<500 {
            let verdict = brake.verdict(on: key(7), limits: WorkerLimits(), at: now, now: now)
            expectEqual(verdict, .goOn)
        }
    }

    @Test func anOperatorsWordHoldsForItsTime() {
        var brake = ResetBrake(
            ResetHoldRecord(app: "tasks", heldSince: 1, asked: 11, clientFiles: 11, allowedUntil: nil))
        brake.allow(until: 5_000)
        for number in 0..<500 {
            let verdict = brake.verdict(on: key(number), limits: WorkerLimits(), at: 100, now: 4_999)
            expectEqual(verdict, .goOn)
        }
        var held = 0
        for number in 0..<500 {
            if case .hold = brake.verdict(on: key(number), limits: WorkerLimits(), at: 100, now: 5_000) { held += 1 }
        }
        expectEqual(held, 490)
    }

    // MARK: A slice that was replaced

    private struct Client {
        var user: String
        var file: ClientFileIdent
        var latest: SaltedServerVersion
    }

    /// Clients of a slice that has gone on since the copy on which the returned harness works.
    private func clients(_ count: Int) async throws -> [Client] {
        let former = try await OwnerHarness.make()
        var clients: [Client] = []
        for number in 0..<count {
            let user = "u\(number)"
            let file = try await former.join(session: UInt64(number) + 1, user: user)
            clients.append(Client(user: user, file: file, latest: SaltedServerVersion(version: 9, salt: 9)))
        }
        return clients
    }

    private func come(_ clients: [Client], to harness: OwnerHarness, from session: UInt64) async throws
        -> [RefusedAnswer]
    {
        var refusals: [RefusedAnswer] = []
        for (number, client) in clients.enumerated() {
            let answer = try await harness.rejoin(
                client.file, session: session + UInt64(number), user: client.user,
                download: DownloadCursor(serverVersion: 9, clientVersion: 0), latest: client.latest)
            refusals += try answer.every(RefusedAnswer.self)
        }
        return refusals
    }

    @Test func clientsOfAnEmptyCopyWaitForTheOperator() async throws {
        let clients = try await clients(15)
        let store = MemorySliceStore()
        let harness = try await OwnerHarness.make(on: store)
        let refusals = try await come(clients, to: harness, from: 1)
        expectEqual(
            refusals.map(\.action), Array(repeating: .clientReset, count: 10) + Array(repeating: .transient, count: 5))
        expectEqual(refusals.last?.code, .initialSyncNotCompleted)
        expectEqual(refusals.last?.message.contains("sluice resets list"), true)
        expectEqual(harness.owner.heldResets.map(\.asked), [11])

        // New clients are none of this, and the next owner knows of it.
        _ = try await harness.join(session: 100, user: "new")
        let successor = try await OwnerHarness.make(on: store)
        try await successor.tick()
        expectEqual(successor.owner.heldResets.map(\.app), [OwnerHarness.app])
        try await expectEqual(come([clients[14]], to: successor, from: 200).map(\.action), [.transient])

        // Another app's operator has not looked at this one.
        try await successor.send(AllowResetsMessage(app: "other", seconds: 60))
        try await expectEqual(come([clients[14]], to: successor, from: 300).map(\.action), [.transient])
        try await successor.send(AllowResetsMessage(app: OwnerHarness.app, seconds: 60))
        expectTrue(successor.owner.heldResets.isEmpty)
        try await expectTrue(
            come(Array(clients[10...]), to: successor, from: 400).allSatisfy { $0.action == .clientReset })
        try await expectTrue(store.resetHolds().allSatisfy { $0.heldSince == nil })
    }

    @Test func clientsThatAreAheadOfAnOlderCopyWait() async throws {
        let store = MemorySliceStore()
        let harness = try await OwnerHarness.make(on: store)
        var clients: [Client] = []
        for number in 0..<15 {
            let file = try await harness.join(session: UInt64(number) + 1, user: "u\(number)")
            clients.append(
                Client(user: "u\(number)", file: file, latest: SaltedServerVersion(version: 9, salt: 9)))
        }
        let refusals = try await come(clients, to: harness, from: 100)
        expectTrue(
            refusals.count { $0.action == .clientReset } == 10 && refusals.count { $0.action == .transient } == 5)
        // A client that waits has not been marked, and is not told to reset by anything else.
        try await expectEqual(store.countClientFiles(app: OwnerHarness.app, state: .live), 5)
    }

    @Test func aTerminationIsNotHeld() async throws {
        let harness = try await OwnerHarness.make()
        var clients: [Client] = []
        for number in 0..<15 {
            let file = try await harness.join(session: UInt64(number) + 1, user: "u\(number)")
            clients.append(Client(user: "u\(number)", file: file, latest: SaltedServerVersion(version: 0, salt: 0)))
        }
        try await harness.send(
            TerminationMessage(app: OwnerHarness.app, campaign: "c", generation: 2, reason: nil))
        let refusals = try await come(clients, to: harness, from: 100)
        expectTrue(refusals.count == 15 && refusals.allSatisfy { $0.action == .clientReset })
        expectTrue(harness.owner.heldResets.isEmpty)
    }
}
