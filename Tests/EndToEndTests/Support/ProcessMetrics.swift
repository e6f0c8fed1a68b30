import AsyncHTTPClient
import LocalCluster
import NIOCore

extension LocalCluster {
    /// A counter or gauge of a process, without dimensions, by its Prometheus name; 0 if it was never touched.
    func metric(_ metric: String, of name: String) async throws -> Double {
        let line = log(of: name).split(separator: "\n").first { $0.contains("operations endpoint listening") }
        guard let port = line?.firstMatch(of: /port=([0-9]+)/)?.1 else {
            throw LocalClusterError("\(name) does not say where its operations endpoint is")
        }
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics"), timeout: .minutes(1))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let values = text.split(separator: "\n").compactMap { line -> Double? in
            let parts = line.split(separator: " ")
            return parts.count == 2 && parts[0] == metric ? Double(parts[1]) : nil
        }
        return values.first ?? 0
    }

    /// How many deliveries this worker was given that the broker had made before.
    func redeliveries(to worker: String) async throws -> Double {
        try await metric("sluice_worker_messages_redelivered_total", of: worker)
    }

    /// How many deliveries these workers gave back because they crossed the end of their consuming. The broker decides
    /// about that: a quorum queue's deliveries may come after its word that there will be no more.
    func crossings(of workers: [String]) -> Double {
        let lines = workers.flatMap { log(of: $0).split(separator: "\n") }
        return Double(lines.count { $0.contains("crossed its consumer's cancellation") })
    }

    /// What a worker has logged of taking slices and letting them go.
    func ownership(of worker: String) -> String {
        log(of: worker).split(separator: "\n").filter { $0.contains(" slice ") || $0.contains("warning") }
            .joined(separator: "\n")
    }
}
