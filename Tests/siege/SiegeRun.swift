import Foundation
import LocalCluster
import SeededRandom
import SyncModel

/// One siege: a calm phase, each attack for its share of the time beside the honest app, and a last calm phase.
struct SiegeRun: Sendable {
    struct Settings: Sendable {
        var seed: UInt64
        var seconds: Int
        var attacks: [Attack]
        /// Seconds of rest after each attack, before it is seen what it has left.
        var rest: Double
        var clients: Int
        var pace: Duration
        var judgesLatency: Bool
        var configuration: String
    }

    private static let keyed = "keyed"

    let settings: Settings
    let sieged: SiegedCluster
    let journal: Journal

    func run() async throws -> SiegeReport {
        var report = SiegeReport(
            seed: settings.seed, seconds: settings.seconds, configuration: settings.configuration)
        try await sieged.start()
        // Everybody may read the notices, and nobody what is not named by their own id.
        let guarded = sieged.cluster.folder + "/rules.json"
        try #"{"partition": {"template": "ownOrPublic", "public": "notices"}}"#.write(
            toFile: guarded, atomically: true, encoding: .utf8)
        for (app, rules) in [(HonestApp.partitioned, "open"), ("stranger", "open"), ("guarded", guarded)] {
            try await sieged.cluster.operate("apps", "create", app, "--rules", rules)
        }
        let keyPort = FreePort.next()
        try await sieged.cluster.operate("apps", "create", Self.keyed, "--rules", "open")
        let keys = sieged.cluster.folder + "/keys.json"
        try #"{"jwksURL": "http://127.0.0.1:\#(keyPort)/keys", "algorithms": ["ES256"]}"#.write(
            toFile: keys, atomically: true, encoding: .utf8)
        try await sieged.cluster.operate("logins", "set", Self.keyed, "custom-token", "--file", keys)
        let flexible = try FlexibleTargets(besides: HonestApp.flexible, slices: SiegedCluster.slices)
        try await sieged.cluster.operate(
            "apps", "create", HonestApp.flexible, "--sync-mode", "flexible", "--rules", "open")
        try await flexible.create(in: sieged.cluster)
        journal.note("the cluster is up")
        let apps = (
            partitioned: HonestApp(
                .partition, ports: sieged.gatewayPorts, clients: settings.clients, pace: settings.pace,
                seed: settings.seed),
            flexible: HonestApp(
                .flexible, ports: sieged.gatewayPorts, clients: 2, pace: settings.pace, seed: settings.seed + 1)
        )
        let clients = try await apps.partitioned.open()
        let others = try await apps.flexible.open()
        journal.note("\(clients.count + others.count) honest clients are at work")
        let watch = Watch { [sieged] in sieged.processes }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await apps.partitioned.work(clients) }
            group.addTask { await apps.flexible.work(others) }
            group.addTask { await watch.run() }
            group.addTask { await sieged.supervise(journal) }
            await besiege(apps, (flexible, keyPort), watch, &report)
            group.cancelAll()
        }
        return report
    }

    /// The honest apps, one in each mode.
    private typealias Apps = (partitioned: HonestApp, flexible: HonestApp)

    private typealias Targets = (flexible: FlexibleTargets, keyPort: Int)

    private func besiege(
        _ apps: Apps, _ targets: Targets, _ watch: Watch, _ report: inout SiegeReport
    ) async {
        // A sixth of the time each, but no more than half a minute, for the calm before and after.
        let calm = min(30, Double(settings.seconds) / 6)
        let share = max(2, (Double(settings.seconds) - 2 * calm) / Double(settings.attacks.count) - settings.rest)
        // What has only begun is not yet calm.
        try? await Task.sleep(for: .seconds(5))
        let before = await phase("calm before", apps, watch, nil) { _ in try? await Task.sleep(for: .seconds(calm)) }
        report.rows.append(before)
        for (number, attack) in settings.attacks.enumerated() {
            let row = await phase(attack.name, apps, watch, before) { row in
                do {
                    row.sent = try await make(attack, targets, number: number, seconds: share)
                } catch {
                    journal.note("\(attack.name): \(error)")
                    row.broken.append("the attack could not be made")
                }
            }
            report.rows.append(row)
        }
        report.rows.append(
            await phase("calm after", apps, watch, before) { _ in try? await Task.sleep(for: .seconds(calm)) })
        for index in report.rows.indices {
            report.rows[index].broken += SiegeReport.broken(
                report.rows[index], judgesLatency: settings.judgesLatency)
        }
    }

    /// Measures the cluster before, during and after `body`, and the honest apps meanwhile.
    private func phase(
        _ name: String, _ apps: Apps, _ watch: Watch, _ calm: SiegeReport.Row?,
        _ body: (inout SiegeReport.Row) async -> Void
    ) async -> SiegeReport.Row {
        journal.note(name)
        var row = SiegeReport.Row(name: name, seconds: 0)
        let ends = sieged.unexpectedEnds
        row.before = sieged.footprint()
        row.before.memory = watch.take().low
        let start = ContinuousClock.now
        await body(&row)
        let end = ContinuousClock.now
        try? await Task.sleep(for: .seconds(settings.rest / 2))
        row.peak = watch.take().peak
        try? await Task.sleep(for: .seconds(settings.rest / 2))
        row.after = sieged.footprint()
        row.after.memory = watch.low
        row.unexpectedEnds = sieged.unexpectedEnds - ends
        row.seconds = (end - start) / .seconds(1)
        let honest = apps.partitioned.ledger.extract(from: start, to: end, rest: .now)
        row.partitioned = SiegeReport.Honest(honest, calm: calm?.partitioned.median)
        row.flexible = SiegeReport.Honest(
            apps.flexible.ledger.extract(from: start, to: end, rest: .now), calm: calm?.flexible.median)
        row.visits = honest.visits.count
        row.longestVisit = honest.visits.last ?? 0
        journal.note(
            String(
                format: "%@: medians %.1f ms of %d changes and %.1f ms of %d, p99 %.1f and %.1f ms, "
                    + "%d visits of up to %.0f ms, errors: %@",
                name, row.partitioned.median, row.partitioned.changes, row.flexible.median, row.flexible.changes,
                row.partitioned.p99, row.flexible.p99, row.visits, row.longestVisit,
                row.honestErrors.prefix(5).joined(separator: "; ")))
        return row
    }

    /// Runs an attack in a process of its own that has what processor time nobody else wants: a stranger has a machine of its
    /// own, and what it takes of this one is not Sluice's. At a low priority alone it would keep its turns, of a millisecond or
    /// two, and each hop of an honest change could have to wait for one.
    private func make(
        _ attack: Attack, _ targets: Targets, number: Int, seconds: Double
    ) async throws -> Tally.Counts {
        let target = Stranger.Target(
            gatewayPorts: sieged.gatewayPorts, coordinatorPort: sieged.cluster.coordinatorPort, app: "stranger",
            guarded: "guarded", keyed: Self.keyed, keyPort: targets.keyPort, honest: HonestApp.partitioned,
            honestPartition: HonestApp.partition(0),
            honestEmail: HonestApp.visitor,
            flexible: targets.flexible)
        var random = SeededGenerator(seed: settings.seed).fork(number)
        let text = try await Program.run(
            "/usr/bin/env",
            [
                "chrt", "--idle", "0", try Self.program(), "stranger", "--attack", attack.name, "--seed",
                "\(random.next())",
                "--seconds", "\(seconds)", "--target",
                String(decoding: try JSONEncoder().encode(target), as: UTF8.self),
            ], environment: ProcessInfo.processInfo.environment, called: "the stranger")
        return try JSONDecoder().decode(Tally.Counts.self, from: Data(text.utf8))
    }

    private static func program() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}
