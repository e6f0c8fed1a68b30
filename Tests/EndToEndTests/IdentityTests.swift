import Foundation
import LocalCluster
import TestSupport
import Testing

/// Processes refuse what is not their cluster's, and an operator can have them take it.
///
/// They take the cluster's store away, and with it what tests before them have put there.
@Suite(
    .needsBroker, .hangGuard, .serialized, .sharedCluster(workers: 1, slices: 2),
    .ownAppsInWholeCluster(workers: 1),
    .lastWordsOfProcesses)
struct IdentityTests {
    private struct Stored: Decodable {
        var cluster: String?
        var made: [Int]
        var missing: [Int]
        var broker: String
    }

    /// How a role ends that is started with these settings.
    private func refusal(of role: String, _ cluster: LocalCluster, _ arguments: String...) async -> String {
        do {
            _ = try await cluster.operate([role, "--operations-port", "0"] + arguments)
            return "it ran"
        } catch {
            return "\(error)"
        }
    }

    private func stored(_ cluster: LocalCluster) async throws -> Stored {
        try await cluster.operateJSON(Stored.self, "store", "show")
    }

    /// How many dead letters there are, also while no coordinator runs.
    private func deadLetters(_ cluster: LocalCluster) async throws -> Int? {
        struct Queue: Decodable {
            var queue: String
            var ready: Int
        }
        return try await cluster.operateJSON([Queue].self, "broker", "queues").first { $0.queue.hasSuffix(".dead") }?
            .ready
    }

    @Test func aStoreThatIsNotMountedIsRefusedAndUploadsWait() async throws {
        let cluster = try SharedCluster.cluster
        try await cluster.makeApp()
        let device = try await Device(cluster)
        try device.create("before")
        try await device.upload()
        let before = try await stored(cluster)
        expectTrue(before.made == [0, 1] && before.broker == "this cluster's")
        await cluster.stop("worker-1")
        await cluster.stop("coordinator")
        // The device goes on meanwhile, as gateways do: the upload waits at the broker.
        try device.create("while the store was away")
        let store = "\(cluster.folder)/store"
        try FileManager.default.moveItem(atPath: store, toPath: "\(store)-elsewhere")
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
        for role in ["worker", "coordinator", "gateway"] {
            let refusal = await refusal(of: role, cluster)
            expectTrue(refusal.contains("exited with 65") && refusal.contains("there is no store at"), "\(refusal)")
        }
        try expectTrue(FileManager.default.contentsOfDirectory(atPath: store).isEmpty)
        try await expectEqual(deadLetters(cluster), 0)
        try FileManager.default.removeItem(atPath: store)
        try FileManager.default.moveItem(atPath: "\(store)-elsewhere", toPath: store)
        try await cluster.startWorker("worker-1")
        try await cluster.startCoordinator()
        try await device.upload()
        try await expectEqual(stored(cluster).cluster, before.cluster)
        try await expectEqual(deadLetters(cluster), 0)
    }

    @Test func aSecondClusterIsRefusedByStoreAndBroker() async throws {
        let cluster = try SharedCluster.cluster
        await cluster.stop()
        let prefix = await refusal(of: "worker", cluster, "--prefix", "\(cluster.prefix)-two")
        expectTrue(prefix.contains("exited with 65") && prefix.contains("SLUICE_AMQP_PREFIX=\(cluster.prefix)"))
        // Another cluster's store at this one's broker.
        let other = LocalCluster(
            amqpURL: cluster.amqpURL, folder: "\(cluster.folder)/other", sluice: cluster.sluice, slices: 2,
            prefix: "\(cluster.prefix)-other")
        try await other.startAll(workers: 1)
        try await other.waitUntilReady(workers: 1)
        await other.stop()
        _ = try await cluster.operate(
            "store", "adopt", "--broker", "--yes", "--store", "sqlite:\(other.folder)/store")
        for role in ["worker", "coordinator", "gateway"] {
            let refusal = await refusal(of: role, cluster)
            expectTrue(refusal.contains("exited with 65") && refusal.contains("belongs to cluster"), "\(refusal)")
        }
        let asked = await #expect(throws: LocalClusterError.self) {
            try await cluster.operate("store", "adopt", "--broker")
        }
        expectEqual(asked?.description.contains("say --yes"), true)
        try await expectTrue(stored(cluster).broker.hasPrefix("of cluster "))
        try await cluster.operate("store", "adopt", "--broker", "--yes")
        try await expectEqual(stored(cluster).broker, "this cluster's")
        try await cluster.startAll(workers: 1)
        try await cluster.waitUntilReady(workers: 1)
    }

    @Test func aSliceThatIsMissingIsNotMadeAnewUntilTheOperatorSaysSo() async throws {
        let cluster = try SharedCluster.cluster
        await cluster.stop()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(cluster.folder)/store/slice-1.sqlite\(suffix)")
        }
        let refusal = await refusal(of: "worker", cluster)
        expectTrue(refusal.contains("exited with 65") && refusal.contains("adopt --slice 1"), "\(refusal)")
        expectTrue(!FileManager.default.fileExists(atPath: "\(cluster.folder)/store/slice-1.sqlite"))
        try await expectEqual(stored(cluster).missing, [1])
        try await cluster.operate("store", "adopt", "--slice", "1", "--yes")
        try await cluster.startAll(workers: 1)
        try await cluster.waitUntilReady(workers: 1)
        try await expectTrue(stored(cluster).missing.isEmpty)
    }

    @Test func nothingIsBegunAnewUnlessTheOperatorSaysSo() async throws {
        let cluster = try SharedCluster.cluster
        let before = try await stored(cluster)
        await cluster.stop()
        try FileManager.default.removeItem(atPath: "\(cluster.folder)/store")
        await expectTrue(refusal(of: "up", cluster).contains("there is no store at"))
        try await cluster.operate("store", "adopt", "--new", "--yes")
        try await cluster.startAll(workers: 1)
        try await cluster.waitUntilReady(workers: 1)
        try await expectTrue(stored(cluster).cluster != before.cluster)
    }

    @Test func aCopyOfTheFolderElsewhereIsRefused() async throws {
        let cluster = try SharedCluster.cluster
        try await cluster.makeApp()
        let copy = cluster.file("copy")
        _ = try await cluster.shell("cp", ["-r", "\(cluster.folder)/store", copy])
        async let worker = refusal(of: "worker", cluster, "--store", "sqlite:\(copy)")
        async let gateway = refusal(of: "gateway", cluster, "--port", "0", "--store", "sqlite:\(copy)")
        for refusal in [await worker, await gateway] {
            expectTrue(
                refusal.contains("exited with 65") && refusal.contains("processes of one machine")
                    && refusal.contains("sluice store copy"), "\(refusal)")
        }
        // Another name of the same folder is no other folder.
        _ = try await cluster.shell("ln", ["-s", "\(cluster.folder)/store", "\(cluster.folder)/alias"])
        try await cluster.start(
            "worker-2", ["worker", "--id", "worker-2"],
            settings: ["SLUICE_STORE_URL": "sqlite:\(cluster.folder)/alias"])
        try await cluster.waitUntilReady(workers: 2)
        try await expectEqual(deadLetters(cluster), 0)
    }
}
