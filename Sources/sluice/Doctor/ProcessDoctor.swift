import AdminAPI
import AsyncHTTPClient
import Foundation
import Inspection
import NIOCore
import NIOHTTP1
import Operations
import SyncModel

/// Asks the cluster's processes over HTTP: coordinator, gateway, and whoever's operations port is named.
struct ProcessDoctor {
    let settings: ClusterSettings
    let operationsURLs: [String]

    func examine() async -> [Diagnosis] {
        async let gateway = gateway()
        let coordinator = await coordinator()
        var found = await [coordinator, gateway]
        for url in operationsURLs { found.append(await readiness(url)) }
        if coordinator.level == .ok { return found + (await processes()) }
        if operationsURLs.isEmpty {
            found.add(
                .cluster, "readiness", .unchecked, "no coordinator says which processes there are",
                "--operations-url http://host:port, for each process; their first log lines say where it is")
        }
        return found
    }

    // MARK: Processes

    /// Processes that are asked, and those that are at once.
    private static let most = 500
    private static let atOnce = 16

    /// Looks at every process that the coordinator has heard of.
    private func processes() async -> [Diagnosis] {
        let list: ProcessList
        do {
            list = try await AdminClient(settings).ask(AdminRoute.processes.path(), timeout: .seconds(10))
        } catch {
            return .one(
                .cluster, "processes", .unchecked, CommandFailure(describing: error).message,
                "upgrade the coordinator first, or name them: --operations-url http://host:port")
        }
        var found = [Self.versions(list)]
        var rest = list.processes.prefix(Self.most)[...]
        var byPlace: [Int: Diagnosis] = [:]
        await withTaskGroup(of: (Int, Diagnosis).self) { group in
            func next() {
                guard let process = rest.popFirst() else { return }
                let place = rest.startIndex
                group.addTask { (place, await look(at: process)) }
            }
            for _ in 0..<Self.atOnce { next() }
            for await (place, diagnosis) in group {
                byPlace[place] = diagnosis
                next()
            }
        }
        found += byPlace.sorted { $0.key < $1.key }.map(\.value)
        return found
    }

    /// Mixed versions are what an upgrade looks like that somebody has not finished.
    static func versions(_ list: ProcessList) -> Diagnosis {
        let versions = list.versions
        let text = versions.map { "\($0.version) (\($0.count))" }.joined(separator: ", ")
        guard versions.count > 1 else {
            return Diagnosis(
                .cluster, "versions", .ok, versions.isEmpty ? "no process says its version" : "all \(text)")
        }
        return Diagnosis(
            .cluster, "versions", .warning, "the processes have several versions: \(text)",
            "finish the upgrade, or take it back; sluice processes says which is which")
    }

    /// What a process answers at its operations port; where that cannot be reached from here, what its heartbeat said.
    private func look(at process: ProcessDocument) async -> Diagnosis {
        let subject = "\(process.role.rawValue) \(process.id)"
        let place = process.host.map { " on \($0)" } ?? ""
        guard process.state != .silent else {
            return Diagnosis(
                .cluster, subject, .warning,
                "has not been heard for \(Printing.age(ofUnixMilliseconds: process.lastHeardAt)), and has not said goodbye",
                "see whether it runs\(place), and its log; ten minutes after its end nobody speaks of it any more")
        }
        if let url = process.operations, Self.isReachable(url, on: process.host) {
            let answer = await readiness(url, as: subject)
            if answer.level != .unchecked { return answer }
        }
        switch process.state {
        case .notReady:
            return Diagnosis(
                .cluster, subject, .fault, "not ready: \(process.notReady?.joined(separator: "; ") ?? "")",
                "see the log of the process\(place)")
        case .ready:
            return Diagnosis(
                .cluster, subject, .ok,
                "ready, by its heartbeat; from here its operations port cannot be asked"
                    + (process.operations.map { ": \($0)" } ?? ""))
        default:
            return Diagnosis(
                .cluster, subject, .unchecked, "its heartbeats do not say how it stands", "upgrade it")
        }
    }

    /// Whether it makes sense to ask: another machine's loopback address leads to this one.
    private static func isReachable(_ url: String, on host: String?) -> Bool {
        guard let name = URLComponents(string: url)?.host else { return false }
        return !Loopback.contains(name) || host == ReachableAddress.machine
    }

    private func coordinator() async -> Diagnosis {
        do {
            let overview: ClusterDocument = try await AdminClient(settings).ask(
                AdminRoute.cluster.path(), timeout: .seconds(10))
            guard overview.slices == settings.configuration.slices else {
                return Diagnosis(
                    .cluster, "coordinator", .fault,
                    "\(overview.coordinator) has \(overview.slices.counted("slice")), the settings here \(settings.configuration.slices)",
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
            if status == 503, answer.body.first == UInt8(ascii: "{") {
                return Diagnosis(
                    .cluster, "gateway", .warning, "\(url) answers, and cannot serve logins now: status 503",
                    "mend the store or the broker first; clients that are connected go on")
            }
            guard status == 404 || status == 200, answer.body.first == UInt8(ascii: "{") else {
                return Diagnosis(
                    .cluster, "gateway", .fault, "\(url) answers \(status), not as a gateway does", advice)
            }
            return Diagnosis(.cluster, "gateway", .ok, "\(url) answers")
        } catch {
            return Diagnosis(
                .cluster, "gateway", .fault, "\(url) does not answer: \(HTTPAnswer.words(for: error))", advice)
        }
    }

    /// What a process says of itself.
    ///
    /// - Parameter subject: the process's name where it was not named by its URL; then one that does not answer is not looked at.
    private func readiness(_ url: String, as subject: String? = nil) async -> Diagnosis {
        let url = url.withoutTrailingSlash
        let name = subject ?? url
        do {
            let request = HTTPClientRequest(url: url + "/ready")
            let answer = try await HTTPAnswer.of(
                request, timeout: .seconds(subject == nil ? 10 : 3), maxBytes: 1 << 20,
                trusting: settings.configuration.authoritiesFile)
            let report = try JSONDecoder().decode(ReadinessReport.self, from: answer.body)
            if report.ready {
                return Diagnosis(
                    .cluster, name, .ok, "ready: \(report.components.map(\.name).joined(separator: ", "))")
            }
            let reasons = report.components.filter { !$0.ready }.map { "\($0.name): \($0.reason)" }
            return Diagnosis(
                .cluster, name, .fault, "not ready: \(reasons.joined(separator: "; "))",
                "see the process's log for what it names")
        } catch {
            return Diagnosis(
                .cluster, name, subject == nil ? .fault : .unchecked,
                "/ready does not answer: \(HTTPAnswer.words(for: error))",
                "see that the process runs, and its operations port")
        }
    }
}
