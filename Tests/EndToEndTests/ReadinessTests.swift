import AsyncHTTPClient
import Foundation
import LocalCluster
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

extension SharedClusterTests {
    /// `/metrics` of real processes.
    @Suite struct MetricTests {
        @Test func everyMetricIsDocumentedAndEveryDocumentedOneExists() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("one")
            try await device.upload()
            try await cluster.operate("sync", "terminate", cluster.app, "--yes", "--enable", "--watch")
            let documented = try DocumentedMetrics()
            try await LocalCluster.retrying("what is documented is exposed") {
                var exposed: Set<String> = []
                for name in ["coordinator", "worker-1", "worker-2", "gateway"] {
                    exposed.formUnion(DocumentedMetrics.exposed(in: try await cluster.ask(name, "/metrics").text))
                }
                let strangers = exposed.subtracting(documented.all)
                guard strangers.isEmpty else {
                    throw LocalClusterError("not documented: \(strangers.sorted().joined(separator: ", "))")
                }
                let missing = documented.always.subtracting(exposed)
                guard missing.isEmpty else {
                    throw LocalClusterError("not exposed: \(missing.sorted().joined(separator: ", "))")
                }
            }
        }
    }
}

extension ShakenClusterTests {
    /// `/ready` of real processes.
    @Suite(.needsBrokerControl) struct ReadinessTests {
        @Test func processesAreNotReadyWhileTheBrokerIsInAnAlarm() async throws {
            let cluster = try SharedCluster.cluster
            let names = ["coordinator", "worker-1", "worker-2", "gateway"]
            for name in names { try await cluster.waitFor(name, ready: true) }
            try await cluster.makeApp()
            let device = try await Device(cluster)
            // The broker tells only those of an alarm that publish.
            let writing = Task {
                for number in 0... {
                    try device.create("\(number)")
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            defer { writing.cancel() }
            try await TestBroker.control("set_vm_memory_high_watermark", "absolute", "1")
            do {
                for name in names { try await cluster.waitFor(name, ready: false) }
            } catch {
                _ = try? await TestBroker.control("set_vm_memory_high_watermark", "absolute", "2GB")
                throw error
            }
            try await TestBroker.control("set_vm_memory_high_watermark", "absolute", "2GB")
            for name in names { try await cluster.waitFor(name, ready: true) }
        }

        @Test func aProcessWhoseDatabaseIsAwayAnswersAndSaysWhy() async throws {
            let cluster = try SharedCluster.cluster
            for (name, component) in [
                ("worker", "worker.store"), ("coordinator", "coordinator.store"), ("gateway", "gateway.listener"),
            ] {
                let port = name == "worker" ? [] : ["--port", "0"]
                try await cluster.start(
                    "early-\(name)", [name, "--store", "postgres://sluice@127.0.0.1:1/nothing"] + port)
                try await cluster.waitFor(
                    "early-\(name)", ready: false, saying: "127.0.0.1:1/nothing cannot be reached")
                let answer = try await cluster.ask("early-\(name)", "/ready")
                expectTrue(answer.text.contains("\"name\":\"\(component)\",\"ready\":false"), "\(answer.text)")
                try await expectEqual(cluster.ask("early-\(name)", "/health").status, 200)
                let metrics = try await cluster.ask("early-\(name)", "/metrics").text
                expectTrue(metrics.contains("sluice_build_info{") && metrics.contains("component=\"\(component)\""))
                // A signal ends it, although it has not begun.
                await cluster.stop("early-\(name)")
                expectTrue(cluster.log(of: "early-\(name)").contains("stopped"))
            }
        }

        @Test func processesAreListedAndLookedAt() async throws {
            let cluster = try SharedCluster.cluster
            struct Process: Decodable {
                var role: String
                var id: String
                var state: String
                var version: String?
                var operations: String?
                var owns: [Int]?
            }
            try await LocalCluster.retrying("all processes are listed, and own what there is") {
                let all = try await cluster.operateJSON([Process].self, "processes")
                let known = all.filter { $0.state == "ready" && $0.version != nil && $0.operations != nil }
                guard Set(known.map(\.role)) == ["coordinator", "worker", "gateway"],
                    Set(known.flatMap { $0.owns ?? [] }).count == cluster.slices
                else { throw LocalClusterError("\(all)") }
            }
            let workers = try await cluster.operate("processes", "--role", "worker", "--wide")
            expectTrue(workers.contains("worker-1") && !workers.contains("gateway"), "\(workers)")
            let examined = try await cluster.shell(
                "bash", ["-c", "\(cluster.sluice) doctor --skip-integrity || [[ $? -le 2 ]]"])
            expectTrue(examined.contains("worker worker-1: ready: worker.broker"), "\(examined)")
            expectTrue(examined.contains("versions: all "), "\(examined)")
        }

        @Test func aSliceWithoutAnOwnerIsNotReady() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.waitFor("coordinator", ready: true)
            for worker in ["worker-1", "worker-2"] { await cluster.stop(worker) }
            try await cluster.waitFor("coordinator", ready: false, saying: "coordinator.slices")
            for worker in ["worker-1", "worker-2"] { try await cluster.startWorker(worker) }
            try await cluster.waitFor("coordinator", ready: true)
        }
    }
}

extension LocalCluster {
    /// Asks a process at its operations port, which its log names.
    func ask(_ name: String, _ path: String) async throws -> (status: Int, text: String) {
        let log = try String(contentsOfFile: "\(folder)/logs/\(name).log", encoding: .utf8)
        let line = log.split(separator: "\n").last { $0.contains("operations endpoint listening") }
        let port = line?.split(separator: "port=").last?.prefix { $0.isNumber }
        guard let port, let number = Int(port) else { throw LocalClusterError("\(name)'s log names no port") }
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(number)\(path)"), timeout: .minutes(1))
        return (
            Int(response.status.code), String(buffer: try await response.body.collect(upTo: 4 << 20))
        )
    }

    func waitFor(_ name: String, ready: Bool, saying reason: String = "") async throws {
        try await Self.retrying("\(name) is \(ready ? "" : "not ")ready") {
            let answer = try await ask(name, "/ready")
            guard (answer.status == 200) == ready, reason.isEmpty || answer.text.contains(reason) else {
                throw LocalClusterError("\(answer.status): \(answer.text)")
            }
        }
    }
}

/// The metrics of docs/metrics.md: one a line of its tables, in Prometheus' names.
struct DocumentedMetrics {
    /// The metrics without an asterisk; an asterisk marks those that appear only once something goes wrong.
    var always: Set<String> = []
    var all: Set<String> = []

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/metrics.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("| `sluice_") {
            let cell = line.split(separator: "|")[0]
            guard let name = cell.split(separator: "`").dropFirst().first else { continue }
            all.insert(String(name))
            if !cell.contains("*") { always.insert(String(name)) }
        }
        guard !all.isEmpty else { throw LocalClusterError("docs/metrics.md lists no metrics") }
    }

    static func exposed(in text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("# TYPE sluice_") }
                .compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) })
    }
}
