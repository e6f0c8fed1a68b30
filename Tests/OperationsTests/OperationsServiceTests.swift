import Foundation
import Logging
import TestSupport
import Testing

@testable import Operations

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.hangGuard) struct OperationsServiceTests {
    @Test func anEphemeralPortServesHealthReadinessAndMetrics() async throws {
        let readiness = Readiness()
        readiness.set("store", ready: false, reason: "starting")
        let registry = PrometheusRegistry()
        let service = OperationsService(
            host: "127.0.0.1", port: 0, readiness: readiness, metrics: registry, logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            let port = try await service.boundPort.value()
            expectTrue(port > 0)

            let health = try await get(port, "/health")
            expectEqual(health.status, 200)
            expectEqual(health.body, "{\"status\":\"alive\",\"version\":\"\(Version.current)\"}\n")

            let early = try await get(port, "/ready")
            expectEqual(early.status, 503)
            expectEqual(
                early.body,
                "{\"components\":[{\"name\":\"store\",\"ready\":false,\"reason\":\"starting\"}],"
                    + "\"ready\":false}\n")
            readiness.set("store", ready: true)
            try await expectEqual(get(port, "/ready").status, 200)

            // What is others' affair may be left out; with everything left out nothing is known to be ready.
            readiness.set("slices", ready: false, reason: "slice 3 has no owner")
            try await expectEqual(get(port, "/ready").status, 503)
            let own = try await get(port, "/ready?except=slices")
            expectTrue(own.status == 200 && own.body.contains("slice 3 has no owner"), "\(own.body)")
            try await expectEqual(get(port, "/ready?except=store").status, 503)
            try await expectEqual(get(port, "/ready?except=slices,store").status, 503)
            for (path, status) in [("/ready", 503), ("/ready?except=slices", 200), ("/health", 200), ("/metrics", 200)]
            {
                let head = try await get(port, path, method: "HEAD")
                expectTrue(head.status == status && head.body.isEmpty, "HEAD \(path): \(head)")
            }

            let metrics = try await get(port, "/metrics")
            expectEqual(metrics.contentType, PrometheusRegistry.contentType)
            expectTrue(metrics.body.contains("sluice_metrics_overflow_total 0"))
            try await expectEqual(get(port, "/elsewhere").status, 404)
            group.cancelAll()
        }
    }

    @Test func waitingForThePortEndsWhenTheServerCannotListen() async throws {
        let service = OperationsService(
            host: "256.0.0.1", port: 0, readiness: Readiness(), metrics: nil, logger: Logger(label: "test"))
        let port = Task { try await service.boundPort.value() }
        await #expect(throws: (any Error).self) { try await service.run() }
        await #expect(throws: OperationsError.self) { try await port.value }
    }
}

private func get(
    _ port: Int, _ path: String, method: String = "GET"
) async throws -> (status: Int, contentType: String?, body: String) {
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
    request.httpMethod = method
    let (data, response) = try await URLSession.shared.data(for: request)
    let http = try #require(response as? HTTPURLResponse)
    return (http.statusCode, http.value(forHTTPHeaderField: "Content-Type"), String(decoding: data, as: UTF8.self))
}
