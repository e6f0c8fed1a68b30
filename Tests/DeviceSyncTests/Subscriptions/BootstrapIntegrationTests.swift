import Changesets
import Foundation
import Merge
import RealmState
import SeededRandom
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Bootstraps on their way into a realm that has writes of its own.
struct BootstrapIntegrationTests {
    private typealias Entry = SyncModel.HistoryEntry

    /// A realm and the server's state, both with the same five tasks.
    private struct Pair {
        let core: RealmCore
        var server = RealmState(compatibility: .stockClients, indexingIncomingLinks: true)
        private var integrator: DownloadIntegrator

        init() throws {
            core = try RealmCore(location: .memory(UUID().uuidString), isSynced: true)
            integrator = DownloadIntegrator(core: core)
            var sync = core.sync
            sync.ident = ClientFileIdent(ident: 5, salt: 6)
            try core.setSync(sync)
            var bytes = try server.record { try SchemaAdditions.apply(Device.schema, to: &$0) }.changeset
            var entries = [Self.entry(bytes, 1)]
            for key in ["a", "b", "c", "d", "e"] {
                bytes = try server.record { transaction in
                    let address = ObjectAddress("Task", .string(ByteString(key)))
                    try transaction.createObject(address)
                    for number in 0..<3 {
                        try transaction.insert(
                            .int(Int64(number)), at: FieldAddress(address, "numbers", [.index(number)]))
                    }
                }.changeset
                entries.append(Self.entry(bytes, 1))
            }
            _ = try integrator.integrate(Self.download(entries, 1, set: 0), of: 0, .stockClients)
        }

        static func entry(_ bytes: [UInt8], _ version: UInt64) -> Entry {
            Entry(
                serverVersion: ServerVersion(version), clientVersion: 0, originFile: 1, timestamp: 1_000,
                changeset: bytes)
        }

        static func progress(_ version: UInt64) -> SyncProgress {
            SyncProgress(
                download: DownloadCursor(serverVersion: ServerVersion(version), clientVersion: 0),
                latest: SaltedServerVersion(version: ServerVersion(version), salt: 7))
        }

        static func download(_ entries: [Entry], _ version: UInt64, set: QueryVersion) -> Download {
            Download(
                session: 1, progress: progress(version),
                detail: .flexible(FlexibleBatch(queryVersion: set, state: .lastInBatch, progress: 1)), entries: entries)
        }

        /// A random write of the realm's own; nothing if it cannot be done.
        func write(_ random: inout SeededGenerator) throws {
            core.lock.lock()
            defer { core.lock.unlock() }
            var state = core.snapshot.state
            guard let changeset = BootstrapIntegrationTests.edit(&state, &random) else { return }
            try core.commitLocal(state, changeset: changeset)
        }

        mutating func integrate(_ entries: [Entry], inBatchesOf size: Int?) throws {
            core.lock.lock()
            try core.setSubscriptions { _ = $0.append([], snapshot: 1) }
            core.lock.unlock()
            guard let size else {
                _ = try integrator.integrate(Self.download(entries, 9, set: 1), of: 1, .stockClients)
                return
            }
            var bootstrap = PendingBootstrap(version: 1, batches: 0)
            var rest = entries[...]
            while !rest.isEmpty {
                bootstrap.batches += 1
                if rest.count <= size { bootstrap.progress = Self.progress(9) }
                try core.file.write { try BootstrapRows($0).store(Array(rest.prefix(size)), of: bootstrap) }
                rest = rest.dropFirst(size)
            }
            try expectEqual(core.file.pendingBootstrap(), bootstrap)
            _ = try integrator.integrate(bootstrap, .stockClients)
        }
    }

    /// - Returns: the changeset of a random edit; nil if it cannot be done.
    private static func edit(_ state: inout RealmState, _ random: inout SeededGenerator) -> [UInt8]? {
        let address = ObjectAddress("Task", .string(ByteString(["a", "b", "c", "d", "e", "f"][random.below(6)])))
        let (kind, number) = (random.below(6), random.below(4))
        let changeset = try? state.record { transaction in
            switch kind {
            case 0: try transaction.createObject(address)
            case 1: try transaction.deleteObject(address)
            case 2: try transaction.set(FieldAddress(address, "title"), to: .string(ByteString("t\(number)")))
            case 3: try transaction.remove(at: FieldAddress(address, "numbers", [.index(number)]))
            case 4: try transaction.move(FieldAddress(address, "numbers", [.index(0)]), to: number)
            default: try transaction.insert(.int(Int64(number)), at: FieldAddress(address, "numbers", [.index(number)]))
            }
        }.changeset
        return changeset.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// However it is cut into batches, a bootstrap leaves the same objects, history and cursors.
    @Test(arguments: 0..<150) func batchesMakeNoDifference(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var server = try Pair().server
        var entries: [Entry] = []
        for _ in 0..<(2 + random.below(8)) {
            if let changeset = Self.edit(&server, &random) { entries.append(Pair.entry(changeset, 9)) }
        }
        guard !entries.isEmpty else { return }
        var results: [(StateDigest, [DeviceSync.HistoryEntry], SyncProgress, SubscriptionSets)] = []
        let writes = random.below(8)
        for size in [nil, 1, 2, entries.count] {
            var own = random
            var pair = try Pair()
            for _ in 0..<writes { try pair.write(&own) }
            try pair.integrate(entries, inBatchesOf: size)
            let core = pair.core
            try expectTrue(core.file.pendingBootstrap() == nil)
            var history = try core.file.read { try HistoryRows($0).entries(from: 0) }
            // The timestamps are those of realms that were made one after the other.
            for index in history.indices {
                history[index].originTimestamp = 0
                // A write that one batch changes and the next puts back counts as changed.
                history[index].reciprocal = history[index].merged
            }
            results.append((StateDump.digest(of: core.snapshot.state), history, core.sync.progress, core.subscriptions))
        }
        for result in results.dropFirst() {
            expectEqual(result.0, results[0].0)
            expectEqual(result.1, results[0].1)
            expectEqual(result.2, results[0].2)
            expectEqual(result.3, results[0].3)
        }
        expectTrue(results[0].3.active?.version == 1 && results[0].3.sets.count == 1)
    }

    @Test func aBatchThatCannotBeAppliedLeavesTheRealmAsItWas() throws {
        let pair = try Pair()
        let core = pair.core
        let before = StateDump.digest(of: core.snapshot.state)
        var server = pair.server
        let good = try server.record { try $0.createObject(.init("Task", .string("new"))) }.changeset
        try core.file.write { database in
            let rows = BootstrapRows(database)
            try rows.store([Pair.entry(good, 9)], of: PendingBootstrap(version: 1, batches: 1))
            try rows.store(
                [Pair.entry([0xFF, 0x01], 9)], of: PendingBootstrap(version: 1, batches: 2, progress: Pair.progress(9)))
        }
        let bootstrap = try #require(try core.file.pendingBootstrap())
        var integrator = DownloadIntegrator(core: core)
        let error = #expect(throws: IntegrationError.self) { try integrator.integrate(bootstrap, .stockClients) }
        expectTrue(error?.code == .badChangeset && error?.isTheServersFault == true)
        expectTrue(StateDump.digest(of: core.snapshot.state) == before && core.sync.progress == Pair.progress(1))
    }

    @Test func batchesOfAnotherBootstrapGoWithTheFirstOfTheNext() throws {
        let entry = Pair.entry([1], 9)
        try RealmFile(url: nil).write { database in
            let rows = BootstrapRows(database)
            try rows.store([entry, entry], of: PendingBootstrap(version: 1, batches: 1))
            try rows.store([entry], of: PendingBootstrap(version: 1, batches: 2))
            try expectTrue(rows.entries(batch: 0).count == 2 && rows.entries(batch: 1) == [entry])
            try rows.store([entry], of: PendingBootstrap(version: 2, batches: 1))
            try expectTrue(rows.entries(batch: 0) == [entry] && rows.entries(batch: 1).isEmpty)
            try expectEqual(rows.pending(), PendingBootstrap(version: 2, batches: 1))
            try rows.discard()
            try expectTrue(rows.entries(batch: 0).isEmpty && rows.pending() == nil)
        }
    }
}
