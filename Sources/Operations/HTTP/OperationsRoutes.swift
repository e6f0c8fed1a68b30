import HTTPTypes
package import Hummingbird
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The answer of `/ready`.
package struct ReadinessReport: Codable {
    package var ready: Bool
    package var components: [Readiness.Component]
}

/// Adds `GET /health` (the process lives, and which version it is), `GET /ready` (200 or 503, with every component) and `GET /metrics`.
package func addOperationsRoutes<Context: RequestContext>(
    to router: some RouterMethods<Context>, readiness: Readiness, metrics: PrometheusRegistry?
) {
    router.get("health") { _, _ in
        operationsResponse(
            .ok, contentType: "application/json", body: "{\"status\":\"alive\",\"version\":\"\(Version.current)\"}\n")
    }
    router.get("ready") { _, _ in
        let report = ReadinessReport(ready: readiness.isReady, components: readiness.components)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try String(decoding: encoder.encode(report), as: UTF8.self)
        return operationsResponse(
            report.ready ? .ok : .serviceUnavailable, contentType: "application/json", body: body + "\n")
    }
    if let metrics {
        router.get("metrics") { _, _ in
            operationsResponse(.ok, contentType: PrometheusRegistry.contentType, body: metrics.render())
        }
    }
}

private func operationsResponse(_ status: HTTPResponse.Status, contentType: String, body: String) -> Response {
    Response(
        status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
}
