import Foundation
import LocalCluster

/// Faults of hosts and of the lines between them, one at a time; the next when clients have got over the one before it.
struct HostTrouble: Trouble {
    /// How long clients may take to get over a fault that is undone.
    private static let patience: Duration = .seconds(180)

    let leftOut: [String]
    let isPossible: Bool
    private(set) var outages: [String: Outage] = [:]
    private(set) var findings: [String] = []
    private let hosts: HostCluster
    private let clients: [FireClient]
    private let terminations: Terminations
    private let journal: Journal
    private var plan: FaultPlan<HostFault>

    init(
        hosts: HostCluster, clients: [FireClient], terminations: Terminations, journal: Journal, seed: UInt64,
        faults: [HostFault], stretch: Double
    ) async {
        self.hosts = hosts
        self.clients = clients
        self.terminations = terminations
        self.journal = journal
        var missing: [String] = []
        var possible: [HostFault] = []
        for fault in faults {
            let kind: String? = fault == .slowHost ? "slow" : fault == .lossyHost ? "lossy" : nil
            if let kind, let reason = await hosts.room.reasonAgainst(kind) {
                missing.append("\(fault.rawValue): \(reason)")
            } else {
                possible.append(fault)
            }
        }
        leftOut = missing
        isPossible = !possible.isEmpty
        plan = FaultPlan(seed: seed, faults: possible, stretch: stretch, together: 1)
    }

    mutating func strike() async -> [String] {
        guard let step = plan.next().first else { return [] }
        try? await Task.sleep(for: .seconds(step.after))
        for client in clients { _ = client.takeLongestWait() }
        let host = hosts.hosts[Int(step.choice % UInt64(hosts.hosts.count))]
        let others = hosts.hosts.filter { $0 != host }
        let other = others[Int(step.choice >> 8 % UInt64(others.count))]
        let start = ContinuousClock.now
        do { try await perform(step, on: host, and: other) } catch {
            findings.append("\(step.fault.rawValue) at \(host) went wrong: \(error)")
            journal.note(findings.last ?? "")
        }
        let fault = (ContinuousClock.now - start) / .seconds(1)
        await recover(from: "\(step.fault.rawValue) at \(host)")
        let waits = clients.map { ($0.takeLongestWait() / .seconds(1), $0.name) }
        let (wait, name) = waits.max { $0.0 < $1.0 } ?? (0, "nobody")
        journal.note(String(format: "the longest wait was %.1f s, of %@", wait, name))
        outages[step.fault.rawValue, default: Outage()].add(fault: fault, wait: wait)
        return [step.fault.rawValue]
    }

    private func perform(_ step: FaultPlan<HostFault>.Step, on host: String, and other: String) async throws {
        let (room, pause) = (hosts.room, Duration.seconds(step.lasts))
        switch step.fault {
        case .cutHost:
            journal.note("\(step): \(host) is unplugged")
            try await room.unplug(host)
            try? await Task.sleep(for: pause)
            try await room.plug(host)
        case .cutPair:
            journal.note("\(step): \(host) and \(other) do not reach each other")
            try await room.cut(from: host, to: other)
            try await room.cut(from: other, to: host)
            try? await Task.sleep(for: pause)
            try await room.join(from: host, to: other)
            try await room.join(from: other, to: host)
        case .cutOneWay:
            journal.note("\(step): \(host) does not reach \(other)")
            try await room.cut(from: host, to: other)
            try? await Task.sleep(for: pause)
            try await room.join(from: host, to: other)
        case .slowHost:
            let kilobits = 200 + Int(step.choice >> 16 % 800)
            journal.note("\(step): \(host) sends \(kilobits) kbit/s")
            try await room.slow(host, to: kilobits)
            try? await Task.sleep(for: pause)
            try await room.slow(host, to: nil)
        case .lossyHost:
            let percent = 5 + Int(step.choice >> 16 % 25)
            journal.note("\(step): \(host) loses \(percent) % of what it is sent")
            try await room.lose(at: host, percent: percent)
            try? await Task.sleep(for: pause)
            try await room.lose(at: host, percent: 0)
        case .killNode:
            journal.note("\(step): SIGKILL to the broker node on \(host)")
            try await hosts.killNode(on: host)
            try? await Task.sleep(for: pause)
            try await hosts.startNode(on: host)
        case .pauseNode:
            journal.note("\(step): the broker node on \(host) stands still")
            hosts.pauseNode(on: host)
            try? await Task.sleep(for: pause)
            hosts.resumeNode(on: host)
        case .killPrimary:
            journal.note("\(step): the primary on \(hosts.database.primary) is killed, and its standby takes over")
            try await hosts.failOver(after: pause)
        case .loseHost:
            journal.note("\(step): \(host) loses power and cable")
            try await hosts.lose(host)
            try await hosts.goOn(without: host)
            try? await Task.sleep(for: pause)
            try await hosts.bringBack(host)
        case .terminate:
            journal.note("sync is terminated, and \(host) does not reach \(other) meanwhile")
            try await room.cut(from: host, to: other)
            // Beside the cut, which may be between the database's servers: then nothing is granted before it is over.
            async let terminated: Void = terminations.terminate()
            try? await Task.sleep(for: pause)
            try await room.join(from: host, to: other)
            await terminated
        }
    }

    /// Waits until what clients have written by now is acknowledged, and every slice has its owner and stand-by again.
    private mutating func recover(from what: String) async {
        let (clients, hosts) = (clients, hosts)
        do {
            try await within(Self.patience, "all clients have got over \(what)") {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in clients {
                        // A wait ends in an error where a session goes offline, as some do now and then.
                        group.addTask { try await LocalCluster.retrying("it uploads") { try await client.upload() } }
                    }
                    group.addTask { try await hosts.cluster.waitUntilReady(workers: hosts.hosts.count) }
                    try await group.waitForAll()
                }
            }
        } catch {
            findings.append("\(error)")
            journal.note("\(error)")
        }
    }
}
