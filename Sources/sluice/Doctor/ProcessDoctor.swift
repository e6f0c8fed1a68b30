import AdminAPI
import AsyncHTTPClient
import Foundation
import Inspection
import NIOCore
import NIOHTTP1
import Operations

/// Asks the cluster's processes over HTTP: coordinator, gateway, and whoever's operations port is named.
struct ProcessDoctor {
    let settings: ClusterSettings
    let operationsURLs: [String]

    func examine() async -> [Diagnosis] {
        var found = [await coordinator(), await gateway()]
        for url in operationsURLs { found.append(await readiness(url)) }
        if operationsURLs.isEmpty {
            found.add(
                .cluster, "readiness", .unchecked, "no operations port is named",
                "--operations-url http://host:port, for each process; their first log lines say where it is")
        }
        return found
    }

    private func coordinator() async -> Diagnosis {
        do {
            let overview: ClusterDocument = try await AdminClient(settings).ask(
                AdminRoute.cluster.path(), timeout: .seconds(10))
            guard overview.slices == settings.configuration.slices else {
                return Diagnosis(
                    .cluster, "coordinator", .fault,
                    "\(overview.coordinator) has \(overview.slices) slices, the settings here \(settings.configuration.slices)",
                    "give every process the same SLUICE_SLICES")
            }
            return Diagnosis(
                .cluster, "coordinator", .ok,
                "\(overview.coordinator) answers, \(overview.active ? "active" : "standing by")")
        } catch {
            let failure = CommandFailure(describing: error)
            let advice =
                failure.kind == .notAllowed
                ? "set SLUICE_ADMIN_TOKEN or SLUICE_ADMIN_TOKEN_FILE to the coordinator's"
                : "start it; syncing goes on without one, terminations and campaigns wait"
            return Diagnosis(.cluster, "coordinator", .fault, failure.message, advice)
        }
    }

    /// Any answer in the API's own form shows that it serves.
    private func gateway() async -> Diagnosis {
        let configuration = settings.configuration
        let url =
            configuration.gatewayPublicURL
            ?? "\(configuration.gateway.scheme)://\(configuration.gateway.host):\(configuration.gateway.port)"
        let advice = "start a gateway; or set gateway.public_url, or gateway.host and gateway.port, to where it is"
        do {
            let request = HTTPClientRequest(url: url + "/api/client/v2.0/app/sluice-doctor/location")
            let answer = try await HTTPAnswer.of(
                request, timeout: .seconds(10), maxBytes: 1 << 16, trusting: settings.configuration.authoritiesFile)
            let status = answer.status.code
            guard status == 404 || status == 200, answer.body.first == UInt8(ascii: "{") else {
                return Diagnosis(
                    .cluster, "gateway", .fault, "\(url) answers \(status), not as a gateway does", advice)
            }
            return Diagnosis(.cluster, "gateway", .ok, "\(url) answers")
        } catch {
            return Diagnosis(.cluster, "gateway", .fault, "\(url) does not answer: \(error)", advice)
        }
    }

    private func readiness(_ url: String) async -> Diagnosis {
        let url = url.withoutTrailingSlash
        do {
            let request = HTTPClientRequest(url: url + "/ready")
            let answer = try await HTTPAnswer.of(
                request, timeout: .seconds(10), maxBytes: 1 << 20, trusting: settings.configuration.authoritiesFile)
            let report = try JSONDecoder().decode(ReadinessReport.self, from: answer.body)
            if report.ready {
                return Diagnosis(
                    .cluster, url, .ok, "ready: \(report.components.map(\.name).joined(separator: ", "))")
            }
            let reasons = report.components.filter { !$0.ready }.map { "\($0.name): \($0.reason)" }
            return Diagnosis(
                .cluster, url, .fault, "not ready: \(reasons.joined(separator: "; "))",
                "see the process's log for what it names")
        } catch {
            return Diagnosis(
                .cluster, url, .fault, "/ready does not answer: \(error)",
                "see that the process runs, and its operations port")
        }
    }
}
