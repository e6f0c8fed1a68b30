import Foundation
import LocalCluster
import TestSupport
import Testing

/// The drill: back up, lose everything, restore, count.
@Suite(.needsBroker, .timeLimit(.minutes(5))) struct RestoreTests {
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

    @Test func nothingIsLostThatIsInTheBackupOrOnADevice() async throws {
        try await withCluster(workers: 2, slices: 2) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            var devices: [Device] = []
            for _ in 0..<3 { devices.append(try await Device(cluster)) }
            let idle = try await Device(cluster)
            let early = Load(devices, named: "early-")
            try await early.written(atLeast: 60)
            let backup = "\(cluster.folder)/backup"
            try await cluster.operate("backup", backup)
            try await cluster.operate("restore", backup, "--verify")
            var written = try await early.finish()
            // All of it is acknowledged, and none of it is in the backup.
            let late = Load(devices, named: "late-")
            try await late.written(atLeast: 60)
            written.formUnion(try await late.finish())
            try await idle.download()
            #expect(try idle.ids() == written)

            let running = await #expect(throws: LocalClusterError.self) { try await cluster.operate("restore", backup) }
            #expect(running?.description.contains("exited with 65") == true)
            for name in cluster.processIdentifiers.keys { await cluster.kill(name) }
            // What was written while nobody listened is not in the backup either.
            for (number, device) in devices.enumerated() {
                try device.create("offline-\(number)")
                written.insert("offline-\(number)")
            }
            try FileManager.default.removeItem(atPath: "\(cluster.folder)/store")
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
                #expect(try device.ids() == all)
            }
            try await LocalCluster.retrying("the campaign has all outcomes") {
                let campaigns = try await cluster.operateJSON([Campaign].self, "campaigns", "list")
                let counts = campaigns.first?.counts
                guard campaigns.count == 1, campaigns[0].id.hasPrefix("restore-"), counts?.found == 4,
                    counts?.recovered == 4
                else { throw LocalClusterError("\(campaigns)") }
            }
            let verified = try await cluster.operate("realms", "verify", "--all")
            #expect(verified.contains("replay equal"))
        }
    }
}
