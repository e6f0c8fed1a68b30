import Foundation
import LocalCluster
import TestSupport

/// Runs `body` with a cluster of real processes on the tests' broker, under a prefix and in a folder of its own.
///
/// - Parameter start: starts the cluster's processes; nil: all of them with the same settings.
func withCluster(
    workers: Int = 2, slices: Int = 4, amqpQuery: String = "", settings: [String: String] = [:],
    start: ((LocalCluster) async throws -> Void)? = nil, _ body: (LocalCluster) async throws -> Void
) async throws {
    try await withIdleCluster(slices: slices, amqpQuery: amqpQuery, settings: settings) { cluster in
        if let start { try await start(cluster) } else { try await cluster.startAll(workers: workers) }
        try await cluster.waitUntilReady(workers: workers)
        try await cluster.waitFor("gateway", ready: true)
        try await body(cluster)
    }
}

/// Runs `body` with what a cluster needs, whose processes nobody has started.
func withIdleCluster(
    slices: Int = 4, amqpQuery: String = "", settings: [String: String] = [:],
    _ body: (LocalCluster) async throws -> Void
) async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-e2e-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let cluster = LocalCluster(
        amqpURL: try TestBroker.requireURL() + "?connection_timeout=60000" + amqpQuery, folder: folder,
        sluice: root.appending(path: ".build/debug/sluice").path,
        slices: slices, prefix: "e2e-\(UUID().uuidString.prefix(8).lowercased())",
        // An owner may be slow where all share two cores; a stock client's recording does not try again. One that stands
        // still for some seconds keeps its slices unless a test has something else in mind.
        environment: [
            "SLUICE_COORDINATOR_TICK_SECONDS": "0.5", "SLUICE_WORKER_HEARTBEAT_SECONDS": "0.5",
            "SLUICE_GATEWAY_REQUEST_SECONDS": "30", "SLUICE_WORKER_LEASE_SECONDS": "60",
        ].merging(settings) { $1 })
    do {
        try await body(cluster)
    } catch {
        await cluster.stop()
        throw TestBrokerError("\(error)\n\(cluster.lastLines)")
    }
    await cluster.stop()
    try? FileManager.default.removeItem(atPath: folder)
}

extension LocalCluster {
    /// What the processes said last, for the report of a failure.
    var lastLines: String {
        func block(_ name: String, _ lines: [String]) -> [String] {
            ["-- \(name)"] + lines.suffix(12).map { "   \($0.prefix(300))" }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/logs")) ?? []
        let processes = names.sorted().flatMap { name in
            let text = (try? String(contentsOfFile: "\(folder)/logs/\(name)", encoding: .utf8)) ?? ""
            return block(name, text.split(separator: "\n").map(String.init))
        }
        return (processes + block("this process", TestLogs.last(12))).joined(separator: "\n")
    }
}
