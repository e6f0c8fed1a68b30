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

private func get(_ port: Int, _ path: String) async throws -> (status: Int, contentType: String?, body: String) {
    let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    let (data, response) = try await URLSession.shared.data(from: url)
    let http = try #require(response as? HTTPURLResponse)
    return (http.statusCode, http.value(forHTTPHeaderField: "Content-Type"), String(decoding: data, as: UTF8.self))
}
