import AMQP
import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Clients that come, go, edit, and lose their connections while histories are compacted under them: all end with what the
/// whole history, replayed, would have given.
@Suite(.hangGuard) struct CompactionSimulationTests {
    @Test(arguments: UInt64(1)...12)
    func allReachTheStateOfTheWholeHistory(seed: UInt64) async throws {
        try await simulate(seed: seed, schemaPercent: 0)
    }

    @Test(arguments: UInt64(101)...108)
    func alsoWhereClassesAndColumnsAreErased(seed: UInt64) async throws {
        try await simulate(seed: seed, schemaPercent: 10)
    }

    private func simulate(seed: UInt64, schemaPercent: Int) async throws {
        var forgetful = OwnerHarness.eager
        forgetful.maxIndexBytes = 0
        forgetful.maxRecentHistoryBytes = 0
        forgetful.maxReciprocalBytes = 0
        forgetful.maxWindowBytes = 1
        forgetful.maxDigestBytes = 1
        let limits = seed.isMultiple(of: 2) ? OwnerHarness.eager : forgetful
        var harness = try await OwnerHarness.make(limits: limits)
        var edits = RandomEdits(seed: seed)
        edits.schemaPercent = schemaPercent
        /// The whole history, as the notices have it.
        var whole = RealmState()
        func send(_ message: ChangesetMessage) async throws {
            let published = try await harness.send(message)
            try expectTrue(published.every(RefusedAnswer.self).isEmpty, "seed \(seed)")
            for notice in try published.every(IntegratedNotice.self) {
                for entry in notice.entries where !entry.changeset.isEmpty {
                    try whole.apply(Changeset(parsing: entry.changeset))
                }
            }
        }

        var session: UInt64 = 1
        var time: UInt64 = 10_000
        var first = SyncingClient(file: try await harness.join(session: session), session: session)
        try first.make(RandomEdits.schema(), at: 1)
        var clients = [first]
        var withinBase = 0
        var erasures = 0
        for round in 0..<90 {
            time += 10
            if round % 15 == 7 {
                session += 1
                clients.append(SyncingClient(file: try await harness.join(session: session), session: session))
            }
            for index in clients.indices {
                switch Int.random(in: 0..<8, using: &edits.random) {
                case 0...2: try clients[index].edit(&edits, at: SyncTimestamp(time + UInt64(index)))
                case 3, 4:
                    let count = Int.random(in: 1...3, using: &edits.random)
                    if let message = clients[index].upload(in: harness.realm, atMost: count) { try await send(message) }
                case 5, 6: try await clients[index].download(from: harness, maxBytes: 250)
                default:
                    session += 1
                    try await clients[index].connect(to: harness, session: session)
                }
                let start = try await harness.store.clientFile(
                    ClientFileKey(realm: harness.record().id, ident: clients[index].file.ident))?.historyStart
                if let start, clients[index].cursor > 0, clients[index].cursor < start { withinBase += 1 }
            }
            if Int.random(in: 0..<100, using: &edits.random) < schemaPercent, let erasure = edits.erasure(from: whole) {
                try await send(
                    ChangesetMessage(
                        realm: harness.realm, upload: nil,
                        entries: [.init(timestamp: SyncTimestamp(time), changeset: erasure)]))
                erasures += 1
            }
            if round % 3 == 2 {
                try await harness.tick()
            }
            // A takeover: what was in memory is gone.
            if round % 11 == 10 { harness = try await OwnerHarness.make(limits: limits, on: harness.store) }
        }
        for index in clients.indices {
            while let message = clients[index].upload(in: harness.realm) { try await send(message) }
        }
        for _ in 0..<2 {
            for index in clients.indices { try await clients[index].settle(with: harness) }
        }
        try await harness.tick()
        try await harness.tick()

        let expected = StateDump.digest(of: whole)
        try await expectEqual(harness.digest(), expected, "seed \(seed)")
        for client in clients { expectEqual(client.digest, expected, "seed \(seed), client file \(client.file.ident)") }
        let fresh = try await harness.fresh(session: session + 1, maxBytes: 1)
        expectEqual(fresh.digest, expected, "seed \(seed)")
        try await expectTrue(harness.record().historyBase > 0, "seed \(seed)")
        let latest = try await harness.record().latest.version
        expectTrue(fresh.cursor == latest && withinBase > 0 && (schemaPercent == 0 || erasures > 0))
    }
}
