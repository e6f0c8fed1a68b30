import Foundation
import LocalCluster

/// The tables get what the new release adds; then all processes are replaced by the new release's, one after the other; then by those
/// of the release before, as when an upgrade is taken back; then by the new ones for good. All of it under load.
struct RollingUpgrade: Trouble {
    private enum Step: String { case migrate, mixed, forward, back, forwardAgain, replaceAll }

    let leftOut: [String] = []
    let isPossible = true
    private(set) var outages: [String: Outage] = [:]
    private(set) var findings: [String] = []
    private let cluster: BurningCluster
    private let previous: String
    private let clients: [FireClient]
    private let terminations: Terminations
    private let journal: Journal
    private let pause: Duration
    private var steps: [Step] = [.migrate, .mixed, .forward, .back, .forwardAgain]

    /// - Parameters:
    ///   - previous: the program of the release before.
    ///   - pause: how long the cluster is left as it is between two processes.
    init(
        cluster: BurningCluster, previous: String, clients: [FireClient], terminations: Terminations, journal: Journal,
        pause: Duration
    ) {
        self.cluster = cluster
        self.previous = previous
        self.clients = clients
        self.terminations = terminations
        self.journal = journal
        self.pause = pause
    }

    var isOver: Bool { steps.isEmpty }

    /// Workers first: an older one may not know what a newer gateway sends.
    private var order: [String] { cluster.workers + ["coordinator"] + cluster.gateways }

    mutating func strike() async -> [String] {
        let step = steps.removeFirst()
        for client in clients { _ = client.takeLongestWait() }
        let start = ContinuousClock.now
        do {
            try await perform(step)
        } catch {
            findings.append("\(step.rawValue) went wrong: \(error)")
            journal.note(findings.last ?? "")
            steps = []
        }
        let wait = clients.map { $0.takeLongestWait() / .seconds(1) }.max() ?? 0
        outages[step.rawValue, default: Outage()].add(
            fault: (ContinuousClock.now - start) / .seconds(1), wait: wait)
        return [step.rawValue]
    }

    private mutating func perform(_ step: Step) async throws {
        switch step {
        case .migrate: try await migrate()
        case .mixed:
            // Half of the processes of each kind, and a termination that all of them have to understand.
            let some = [cluster.workers, cluster.gateways].flatMap { $0.prefix(max(1, $0.count / 2)) }
            try await replace(some, by: nil)
            await terminations.terminate()
            try await Task.sleep(for: pause * 2)
        case .forward, .forwardAgain: try await replace(order, by: nil)
        case .back:
            try await replace(order.reversed(), by: previous)
            await terminations.terminate()
            try await Task.sleep(for: pause)
        case .replaceAll:
            for name in order { await cluster.end(name, orderly: true) }
            journal.note("all processes of the release before are stopped")
            _ = try await cluster.cluster.operate("store", "migrate")
            cluster.use(nil, for: order)
            for name in order { try await cluster.start(name) }
            try await cluster.cluster.waitUntilReady(workers: cluster.workers.count)
            try await Task.sleep(for: pause)
        }
    }

    /// What the new release adds to the tables comes beside the running processes; if it changes what there is, they cannot go on.
    private mutating func migrate() async throws {
        try await Task.sleep(for: pause)
        struct Check: Decodable { var faults: [String] }
        let text = try await cluster.cluster.shell(
            "bash", ["-c", "\(cluster.cluster.sluice) store check --json || [[ $? == 1 || $? == 2 ]]"])
        let faults = try JSONDecoder().decode(Check.self, from: Data(text.utf8)).faults
        journal.note("the tables: \(faults.isEmpty ? "nothing to migrate" : faults.joined(separator: "; "))")
        guard faults.allSatisfy({ $0.contains("additions") }) else {
            steps = [.replaceAll]
            return
        }
        let migrated = try await cluster.cluster.operate("store", "migrate")
        journal.note("migrated under load: \(migrated.trimmingCharacters(in: .whitespacesAndNewlines))")
        try await Task.sleep(for: pause)
    }

    /// One after the other, each when all slices have an owner and a stand-by again.
    private func replace(_ names: [String], by binary: String?) async throws {
        for name in names {
            await cluster.end(name, orderly: true)
            cluster.use(binary, for: [name])
            try await cluster.start(name)
            try await cluster.cluster.waitUntilReady(workers: cluster.workers.count)
            journal.note("\(name) is of \(binary == nil ? "this release" : "the release before")")
            try await Task.sleep(for: pause)
        }
    }
}
