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
///
/// With `/ready?except=coordinator.slices` that component does not count, nor do further ones behind commas: what is not the process's own
/// affair must not keep a new version of the process from taking the place of an old one.
package func addOperationsRoutes<Context: RequestContext>(
    to router: some RouterMethods<Context>, readiness: Readiness, metrics: PrometheusRegistry?
) {
    router.get("health") { _, _ in
        operationsResponse(
            .ok, contentType: "application/json", body: "{\"status\":\"alive\",\"version\":\"\(Version.current)\"}\n")
    }
    router.get("ready") { request, _ in
        let components = readiness.components
        let except = request.uri.queryParameters["except"]?.split(separator: ",") ?? []
        let counted = components.filter { !except.contains(Substring($0.name)) }
        let report = ReadinessReport(ready: !counted.isEmpty && counted.allSatisfy(\.ready), components: components)
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
