import AMQP
import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Merging with what the index finds gives what merging with the whole history gives: history, reciprocals and objects,
/// byte for byte, whatever is edited, and whatever was forgotten in between.
@Suite(.hangGuard) struct IndexedMergeTests {
    @Test(arguments: UInt64(1)...12)
    func theIndexLeavesOutOnlyWhatDoesNotMatter(seed: UInt64) async throws {
        try await compare(seed: seed, schemaPercent: 0, rounds: 60)
    }

    @Test(arguments: UInt64(101)...112)
    func erasedClassesAndColumnsMeetEverything(seed: UInt64) async throws {
        try await compare(seed: seed, schemaPercent: 20, rounds: 60)
    }

    private func compare(seed: UInt64, schemaPercent: Int, rounds: Int) async throws {
        var exhaustive = WorkerLimits()
        exhaustive.usesHistoryIndex = false
        var forgetful = WorkerLimits()
        forgetful.maxIndexBytes = 0
        forgetful.maxParsedBytes = 0
        forgetful.maxRecentHistoryBytes = 0
        forgetful.maxReciprocalBytes = 0
        forgetful.maxDigestBytes = 1
        forgetful.maxWindowBytes = 1
        forgetful.maxObjectsPerRealm = 2
        var owners = [
            try await OwnerHarness.make(limits: exhaustive), try await OwnerHarness.make(),
            try await OwnerHarness.make(limits: forgetful),
        ]
        let limits = [exhaustive, WorkerLimits(), forgetful]

        func send(_ messages: [AMQPMessage]) async throws -> (notice: IntegratedNotice?, refused: [UInt64]) {
            var first: (notice: IntegratedNotice?, refused: [UInt64])?
            for owner in owners {
                let published = try await owner.send(messages)
                let notice = try published.every(IntegratedNotice.self).first
                let refused = try published.every(RefusedAnswer.self).map(\.session.number)
                guard let expected = first else {
                    first = (notice, refused)
                    continue
                }
                expectEqual(notice?.entries, expected.notice?.entries, "seed \(seed)")
                expectEqual(notice?.acknowledgements, expected.notice?.acknowledgements, "seed \(seed)")
                expectEqual(refused, expected.refused, "seed \(seed)")
            }
            return first ?? (nil, [])
        }
        func join(_ session: UInt64) async throws -> ClientFileIdent {
            var idents: Set<FileIdent> = []
            var file: ClientFileIdent?
            for owner in owners {
                file = try await owner.join(session: session)
                if let ident = file?.ident { idents.insert(ident) }
            }
            expectEqual(idents.count, 1)
            return try #require(file)
        }

        var edits = RandomEdits(seed: seed)
        edits.schemaPercent = schemaPercent
        var server = RealmState()
        var version: ServerVersion = 0
        var authors: [OfflineAuthor] = []
        func follow(_ notice: IntegratedNotice?) throws {
            for entry in notice?.entries ?? [] {
                if !entry.changeset.isEmpty { try server.apply(Changeset(parsing: entry.changeset)) }
                version = entry.serverVersion
            }
        }
        let first = try await join(1)
        try follow(try await send([AMQPMessage(owners[0].upload(first, [RandomEdits.schema()]))]).notice)
        expectEqual(version, 1)
        for session in 2...5 as ClosedRange<UInt64> {
            authors.append(OfflineAuthor(file: try await join(session), session: session, at: version, server))
        }

        var time: UInt64 = 10_000
        var erasures = 0
        var idents: Set<FileIdent> = []
        for round in 0..<rounds {
            for index in authors.indices {
                time += UInt64.random(in: 0...3, using: &edits.random)
                if !authors[index].hasWaiting, Bool.random(using: &edits.random) {
                    authors[index].synchronize(with: server, at: version)
                }
                if Bool.random(using: &edits.random) { authors[index].edit(&edits, at: SyncTimestamp(time)) }
            }
            var messages: [AMQPMessage] = []
            for index in authors.indices where Int.random(in: 0..<3, using: &edits.random) == 0 {
                let count = Int.random(in: 1...3, using: &edits.random)
                guard let upload = authors[index].upload(atMost: count, in: owners[0].realm) else { continue }
                idents.insert(authors[index].file.ident)
                messages.append(try AMQPMessage(upload))
            }
            // Only the operator may erase parts of the schema: uploads meet such an erasure in the history.
            if Int.random(in: 0..<100, using: &edits.random) < schemaPercent, let erasure = edits.erasure(from: server)
            {
                let event = ChangesetMessage(
                    realm: owners[0].realm, upload: nil,
                    entries: [.init(timestamp: SyncTimestamp(time), changeset: erasure)])
                messages.insert(try AMQPMessage(event), at: 0)
                erasures += 1
            }
            guard !messages.isEmpty else { continue }
            let result = try await send(messages)
            try follow(result.notice)
            for index in authors.indices where result.refused.contains(authors[index].session) {
                authors[index].becomes(try await join(authors[index].session), with: server, at: version)
            }
            // A takeover: what was in memory is gone.
            if round % 9 == 8 {
                for index in 1..<owners.count {
                    owners[index] = try await OwnerHarness.make(limits: limits[index], on: owners[index].store)
                }
            }
        }

        expectTrue(version > 20 && (schemaPercent == 0 || erasures > 2))
        let expected = try await Stored(of: owners[0], idents)
        for owner in owners.dropFirst() {
            let stored = try await Stored(of: owner, idents)
            expectEqual(stored.history, expected.history, "seed \(seed)")
            expectEqual(stored.reciprocals, expected.reciprocals, "seed \(seed)")
            expectEqual(stored.objects, expected.objects, "seed \(seed)")
        }
    }

    /// What the store has of the realm.
    private struct Stored {
        var history: [HistoryEntry] = []
        var reciprocals: [FileIdent: [ServerVersion: [UInt8]]] = [:]
        var objects: [ObjectRow: [UInt8]] = [:]

        init(of owner: OwnerHarness, _ idents: Set<FileIdent>) async throws {
            let record = try #require(try await owner.store.realm(owner.realm))
            let key = HistoryKey(realm: record.id, generation: record.generation)
            let latest = record.latest.version
            history = try await owner.store.history(of: key, after: 0, through: latest, maxBytes: .max)
                .map(\.entry)
            for ident in idents {
                let file = ClientFileKey(realm: record.id, ident: ident)
                reciprocals[ident] = try await owner.store.reciprocals(of: file, after: 0, maxBytes: .max)
            }
            for (row, body) in try await owner.store.objects(in: record.id, after: nil, maxBytes: .max) {
                objects[row] = body
            }
        }
    }
}
