import ArgumentParser
import Foundation
import Load
import Operations
import SyncModel

struct LoadCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put clients on a gateway that write at a rate, and say how fast and how completely it serves them.",
        discussion: """
            An acceptance test. Clients log in, open their sessions and write objects of the class LoadItem, each \
            --rate times a second; what is measured begins after --warm-up and goes on for --seconds. Each has a \
            realm of its own, or --sharing of them have one together and get each other's writes. Use an app of its \
            own: its realms are called load-RUN-N.

              sluice apps create load --rules open
              sluice load --app load --clients 500 --rate 0.5
              sluice load --app load --clients 100 --sharing 20 \\
                  --max-acknowledged 200 --max-delivered 300
              sluice apps create load-flexible --sync-mode flexible --rules open
              sluice load --app load-flexible --flexible --clients 50 --sharing 10 --json

            A run passes if every client had a session, every changeset was acknowledged and reached whom it should, \
            nothing went wrong, and what --max-... asks for holds. Exit codes: 0 passed, 1 not. One user may begin \
            50 sessions and send 100 uploads a second, and few anonymous users may log in at once: --users, \
            --api-key.
            """)

    @OptionGroup var common: ReportOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The gateway, https://host:port; where this machine's listens if left out.") var gateway: String?
    @Option(help: "How many clients.") var clients = 50
    @Option(help: "How many of them share a realm; with --flexible, subscribe to the same objects.") var sharing = 1
    @Flag(help: "Clients of an app in flexible mode.") var flexible = false
    @Option(help: "Changesets that each client writes a second.") var rate = 1.0
    @Option(help: "Objects in a changeset.") var objects = 1
    @Option(help: "Bytes of text in an object.") var bytes = 100
    @Option(help: "Seconds that are measured.") var seconds = 30.0
    @Option(help: "Seconds of writing before that.") var warmUp = 3.0
    @Option(help: "Seconds to wait for what is under way at the end.") var patience = 30.0
    @Option(help: "Clients that begin to connect in a second.") var connectRate = 50.0
    @Option(help: "Anonymous users among whom the clients are divided; one for each, up to 200, if left out.")
    var users: Int?
    @Option(help: "Log in with this API key instead, one user for all clients (SLUICE_LOAD_API_KEY).")
    var apiKey: String?
    @Option(help: "Milliseconds within which 99 % are to be acknowledged.") var maxAcknowledged: Double?
    @Option(help: "Milliseconds within which 99 % are to reach the other clients; with --sharing.")
    var maxDelivered: Double?

    func validate() throws {
        func require(_ holds: Bool, _ words: String) throws {
            guard holds else { throw ValidationError(words) }
        }
        try require((1...100_000).contains(clients), "--clients: expected 1 to 100000, found \(clients)")
        try require((1...clients).contains(sharing), "--sharing: expected 1 to \(clients), found \(sharing)")
        try require((0...1_000).contains(rate), "--rate: expected 0 to 1000, found \(rate)")
        try require((1...1_000).contains(objects), "--objects: expected 1 to 1000, found \(objects)")
        try require((0...1_000_000).contains(bytes), "--bytes: expected 0 to 1000000, found \(bytes)")
        try require((1...1_200).contains(seconds), "--seconds: expected 1 to 1200, found \(seconds)")
        try require((0...600).contains(warmUp), "--warm-up: expected 0 to 600, found \(warmUp)")
        try require((1...600).contains(patience), "--patience: expected 1 to 600, found \(patience)")
        try require((0.1...10_000).contains(connectRate), "--connect-rate: expected 0.1 to 10000, found \(connectRate)")
        try require(users.map { (1...clients).contains($0) } ?? true, "--users: expected 1 to \(clients)")
        try require(
            maxDelivered == nil || sharing > 1, "--max-delivered: nobody else gets the writes without --sharing")
        try require(users == nil || apiKey == nil, "--users are anonymous: leave --users or --api-key out")
    }

    func run(_ settings: ClusterSettings) async throws {
        let configuration = settings.configuration
        let url =
            gateway ?? configuration.gatewayPublicURL
            ?? "\(configuration.gateway.scheme)://\(configuration.gateway.host):\(configuration.gateway.port)"
        let target = try Self.target(url, trusting: configuration.authoritiesFile)
        let plan = LoadPlan(
            app: app, mode: flexible ? .flexible : .partition, clients: clients, sharing: sharing, rate: rate,
            objects: objects, bytes: bytes, connectRate: connectRate, warmUp: .seconds(warmUp),
            duration: .seconds(seconds), patience: .seconds(patience),
            run: String(UInt32.random(in: 0 ... .max), radix: 36))
        let login = GatewayLogin(
            origin: url.withoutTrailingSlash, app: app, authorities: configuration.authoritiesFile)
        let tokens = try await tokens(login)
        var report: LoadReport
        do {
            report = try await LoadRun(plan, target, tokens: tokens, told: progress()).run()
        } catch let failure as LoadRun.Failure {
            throw CommandFailure(.unreachable, "\(url): \(failure)")
        }
        report.judge(by: .init(acknowledgedWithin: maxAcknowledged, deliveredWithin: maxDelivered))
        try output.show(report, Self.text(report))
        if !report.shortfalls.isEmpty { throw ExitCode(1) }
    }

    private static func target(_ url: String, trusting authorities: String?) throws -> LoadTarget {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
            parts.scheme == "http" || parts.scheme == "https"
        else { throw CommandFailure(.badInput, "--gateway: expected http://host:port or https://, found \(url)") }
        let isSecure = parts.scheme == "https"
        do {
            return try LoadTarget(
                host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
                port: parts.port ?? (isSecure ? 443 : 80), isSecure: isSecure, authorities: authorities)
        } catch {
            throw CommandFailure(.badInput, "tls.authorities cannot be used: \(error)")
        }
    }

    private func tokens(_ login: GatewayLogin) async throws -> [String] {
        if let key = apiKey ?? ProcessInfo.processInfo.environment["SLUICE_LOAD_API_KEY"], users == nil {
            return [try await login.token(apiKey: key)]
        }
        let count = users ?? min(clients, 200)
        var tokens: [String] = []
        for number in 0..<count {
            tokens.append(try await login.anonymousToken())
            if !output.json, count > 20, (number + 1).isMultiple(of: 50) {
                Printing.note("\(number + 1) of \(count.counted("user"))")
            }
        }
        return tokens
    }

    /// What a person is told meanwhile, each thing once.
    private func progress() -> @Sendable (LoadRun.Progress) -> Void {
        guard !output.json else { return { _ in } }
        let clients = clients
        let said = LastWords()
        return { progress in
            let words: String? =
                switch progress {
                case .opening: nil
                case .open(let count): "\(count) of \(clients.counted("client")) have a session; they begin to write"
                case .measuring: "measuring"
                case .waiting: "waiting for what is under way"
                }
            if let words, said.areNew(words) { Printing.note(words) }
        }
    }

    private static func text(_ report: LoadReport) -> String {
        func cells(_ name: String, _ latency: LoadReport.Latency) -> [String] {
            func text(_ value: Double?) -> String { value.map { String(format: $0 < 100 ? "%.1f" : "%.0f", $0) }.cell }
            return [
                name, "\(latency.count)", text(latency.p50), text(latency.p90), text(latency.p99), text(latency.p999),
                text(latency.max),
            ]
        }
        var rows = [cells("session opened", report.opening), cells("acknowledged", report.acknowledging)]
        if let delivering = report.delivering { rows.append(cells("at another client", delivering)) }
        let table = Table("MILLISECONDS TO", "COUNT", "P50", "P90", "P99", "P99.9", "MAX", rows: rows)
        var lines = [
            "\(report.opened) of \(report.clients) clients, \(report.sharing == 1 ? "each with a realm of its own" : "\(report.sharing) share a realm"), \(report.mode) sync",
            String(
                format: "%d changesets in %.0f s: %.1f a second written, %.1f acknowledged, %.1f delivered",
                report.sent,
                report.seconds, Double(report.sent) / report.seconds, Double(report.acknowledged) / report.seconds,
                Double(report.delivered) / report.seconds),
            "", table.rendered(), "",
        ]
        if report.reconnects > 0 { lines.append(report.reconnects.counted("reconnect")) }
        for (failure, count) in report.failures.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("\(count) x \(failure)")
        }
        lines.append(
            report.shortfalls.isEmpty ? "passed" : "NOT PASSED: \(report.shortfalls.joined(separator: "; "))")
        return lines.joined(separator: "\n")
    }
}
