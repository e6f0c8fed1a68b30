import Foundation
import LocalCluster
import TestSupport
import Testing

/// The drill: back up, lose everything, restore, count.
@Suite(.needsBroker, .hangGuard) struct RestoreTests {
    /// Where the cluster's store is, and how it is lost.
    enum Engine: String, CaseIterable, Sendable { case sqlite, postgres }

    private struct Store: Sendable {
        /// The schema in PostgreSQL; nil for the embedded store.
        var schema: String?

        init(_ engine: Engine) { schema = engine == .postgres ? TestPostgres.uniqueName() : nil }

        func settings() throws -> [String: String] {
            guard let schema else { return [:] }
            return ["SLUICE_STORE_URL": "\(try TestPostgres.requireURL())?schema=\(schema)"]
        }

        func lose(_ cluster: LocalCluster) async throws {
            guard let schema else { return try FileManager.default.removeItem(atPath: "\(cluster.folder)/store") }
            try await drop(cluster)
            try await cluster.operate("store", "init", "--without-roles")
            // The tests' server does not wait for its disk, which is a warning.
            let made = try await cluster.shell("bash", ["-c", "\(cluster.sluice) store check || [[ $? == 1 ]]"])
            expectTrue(made.contains(schema))
        }

        func drop(_ cluster: LocalCluster) async throws {
            guard let schema else { return }
            _ = try await cluster.shell(
                "psql", ["-q", try TestPostgres.requireURL(), "-c", "DROP SCHEMA \(schema) CASCADE"])
        }
    }

    private struct Campaign: Decodable {
        struct Counts: Decodable {
            var found: Int
            var recovered: Int
            var pending: Int
        }
        var id: String
        var app: String
        var counts: Counts
    }

    /// Two packed and sealed backups, of which one stays, and opens with the key alone.
    private func aPackedBackupComesBack(from cluster: LocalCluster) async throws {
        let (place, key) = ("\(cluster.folder)/backups", "\(cluster.folder)/backup.key")
        let made = FileManager.default.createFile(
            atPath: key, contents: Data((0..<32).map { UInt8($0) }), attributes: [.posixPermissions: 0o600])
        expectTrue(made)
        let sealed = ["--set", "backup.key_file=\(key)"]
        let first = try await cluster.operate(["backup", place, "--packed", "--json"] + sealed)
        expectTrue(first.contains("\"name\""))
        // Names have a second's precision.
        try await Task.sleep(for: .milliseconds(1_100))
        _ = try await cluster.operate(["backup", place, "--keep", "1"] + sealed)
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        let name = try #require(names.first)
        expectEqual(names.count, 1)
        expectTrue(!first.contains(name))
        _ = try await cluster.operate(["restore", place, "--latest", "--verify"] + sealed)
        _ = try await cluster.operate(["restore", "\(place)/\(name)", "--verify"] + sealed)
        let closed = await #expect(throws: LocalClusterError.self) {
            try await cluster.operate("restore", place, "--latest", "--verify")
        }
        expectEqual(closed?.description.contains("exited with 77"), true)
    }

    @Test(arguments: TestPostgres.isAvailable ? Engine.allCases : [.sqlite])
    func nothingIsLostThatIsInTheBackupOrOnADevice(_ engine: Engine) async throws {
        let store = Store(engine)
        try await withCluster(workers: 2, slices: 2, settings: try store.settings()) { cluster in
            try await cluster.makeApp()
            var devices: [Device] = []
            for _ in 0..<3 { devices.append(try await Device(cluster)) }
            let idle = try await Device(cluster)
            let early = Load(devices, named: "early-")
            try await early.written(atLeast: 60)
            let backup = "\(cluster.folder)/backup"
            try await cluster.operate("backup", backup)
            try await cluster.operate("restore", backup, "--verify")
            try await aPackedBackupComesBack(from: cluster)
            var written = try await early.finish()
            // The late writes are all acknowledged, and none of them is in the backup.
            let late = Load(devices, named: "late-")
            try await late.written(atLeast: 60)
            written.formUnion(try await late.finish())
            try await idle.download()
            try expectEqual(idle.ids(), written)

            let running = await #expect(throws: LocalClusterError.self) { try await cluster.operate("restore", backup) }
            expectEqual(running?.description.contains("exited with 65"), true)
            for name in cluster.processIdentifiers.keys { await cluster.kill(name) }
            // What was written while nobody listened is not in the backup either.
            for (number, device) in devices.enumerated() {
                try device.create("offline-\(number)")
                written.insert("offline-\(number)")
            }
            let occupied = await #expect(throws: LocalClusterError.self) {
                try await cluster.operate("restore", backup, "--force")
            }
            expectEqual(occupied?.description.contains("exited with 65"), true)
            try await store.lose(cluster)
            _ = try await LocalCluster.retrying("the broker has noticed") {
                try await cluster.operate("restore", backup)
            }
            try await cluster.startAll()
            try await cluster.waitUntilReady(workers: 2)

            for device in devices {
                try await LocalCluster.retrying("the device has reset") {
                    guard device.resets.value > 0 else { throw LocalClusterError("it has not") }
                }
                try await device.upload()
            }
            let all = written
            let witness = try await Device(cluster)
            try await LocalCluster.retrying("everything is back") {
                try await witness.download()
                let missing = all.subtracting(try witness.ids())
                guard missing.isEmpty else { throw LocalClusterError("missing: \(missing.sorted())") }
            }
            for device in devices + [idle] {
                try await device.download()
                try expectEqual(device.ids(), all)
            }
            try await LocalCluster.retrying("the campaign has all outcomes") {
                let campaigns = try await cluster.operateJSON([Campaign].self, "campaigns", "list")
                let counts = campaigns.first?.counts
                guard campaigns.count == 1, campaigns[0].id.hasPrefix("restore-"), counts?.found == 4,
                    counts?.recovered == 4
                else { throw LocalClusterError("\(campaigns)") }
            }
            let verified = try await cluster.operate("realms", "verify", "--all")
            expectTrue(verified.contains("replay equal"))
            try await comesBackInTheOtherEngine(backup, engine, cluster)
            await cluster.stop()
            try await store.drop(cluster)
        }
    }

    /// The same backup makes a store of the other kind.
    private func comesBackInTheOtherEngine(_ backup: String, _ engine: Engine, _ cluster: LocalCluster) async throws {
        guard TestPostgres.isAvailable else { return }
        let other = Store(engine == .sqlite ? .postgres : .sqlite)
        let url = try other.settings()["SLUICE_STORE_URL"] ?? "sqlite:\(cluster.folder)/other"
        if other.schema != nil { try await cluster.operate("store", "init", "--without-roles", "--store", url) }
        try await cluster.operate("restore", backup, "--force", "--store", url)
        let verified = try await cluster.operate("store", "verify", "--all", "--store", url)
        expectTrue(verified.contains("replay equal"))
        try await other.drop(cluster)
    }

    /// The database is what it was, as after a recovery to a point in time, and knows nothing of it.
    @Test(.needsPostgres) func clientsAheadOfADatabaseThatWasPutBackBringBackWhatTheyHave() async throws {
        let store = Store(.postgres)
        let schema = try #require(store.schema)
        let server = try TestPostgres.requireURL()
        try await withCluster(workers: 1, slices: 2, settings: try store.settings()) { cluster in
            try await cluster.makeApp()
            let devices = [try await Device(cluster), try await Device(cluster)]
            let early = Load(devices, named: "early-")
            try await early.written(atLeast: 20)
            var written = try await early.finish()
            let dump = "\(cluster.folder)/dump"
            _ = try await cluster.shell("pg_dump", ["-n", schema, "-f", dump, server])
            let late = Load(devices, named: "late-")
            try await late.written(atLeast: 40)
            written.formUnion(try await late.finish())

            let refused = await #expect(throws: LocalClusterError.self) {
                try await cluster.operate("store", "adopt", "--rewound", "--yes")
            }
            expectEqual(refused?.description.contains("exited with 65"), true)
            for name in cluster.processIdentifiers.keys { await cluster.kill(name) }
            try await store.drop(cluster)
            _ = try await cluster.shell("psql", ["-q", "-v", "ON_ERROR_STOP=1", server, "-f", dump])
            _ = try await LocalCluster.retrying("the broker has noticed") {
                try await cluster.operate("store", "adopt", "--rewound", "--yes")
            }
            try await cluster.startAll(workers: 1)
            try await cluster.waitUntilReady(workers: 1)
            for device in devices {
                try await LocalCluster.retrying("the device has reset") {
                    guard device.resets.value > 0 else { throw LocalClusterError("it has not") }
                }
                try await device.upload()
            }
            let all = written
            let witness = try await Device(cluster)
            try await LocalCluster.retrying("everything is back") {
                try await witness.download()
                let missing = all.subtracting(try witness.ids())
                guard missing.isEmpty else { throw LocalClusterError("missing: \(missing.sorted())") }
            }
            let campaigns = try await cluster.operateJSON([Campaign].self, "campaigns", "list")
            expectTrue(campaigns.count == 1 && campaigns[0].id.hasPrefix("restore-") && campaigns[0].counts.found == 2)
            await cluster.stop()
            try await store.drop(cluster)
        }
    }
}
