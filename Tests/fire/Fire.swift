import ArgumentParser
import DeviceSync
import Foundation
import LocalCluster
import Messages

/// A whole cluster with many client realms under load, and faults of every kind; started by Tests/fire/run.
@main
struct Fire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fire",
        abstract: "Run a cluster under load, do to it what machines and networks do, and count what was lost.",
        discussion: """
            Everything that is random follows from the seed. A failing run's folder is kept: the journal of faults, the \
            logs of all processes, the stores and the client realms.
            """)

    @Option(help: "Where faults and load come from; another for every run if none is given.") var seed: UInt64?
    @Option(help: "How long the faults go on; the rest of the run takes a minute or two more.") var minutes = 2.0
    @Option(
        help: """
            Three hosts with a broker node, a worker and a gateway each, and faults of hosts and of the lines between them; \
            only within a room (Tests/hosts room), which Tests/fire/run sees to.
            """)
    var hosts: Int?
    @Option(help: "How many client realms; 18, or 12 with --hosts.") var clients: Int?
    @Option(help: "Over how many partitions they are spread; a third belong to an app that is terminated.")
    var partitions = 6
    @Option(help: "How many client realms of an app in flexible mode beside them; 5, or none with --previous.")
    var views: Int?
    @Option(
        help: """
            How many backends write documents beside them, while others follow all changes; 3, or none with --previous: then \
            nothing is followed.
            """)
    var writers: Int?
    @Option(help: "How many workers.") var workers = 3
    @Option(help: "How many gateways.") var gateways = 2
    @Option(help: "Milliseconds between two changes of one client; 150, or 400 with --hosts.") var pace: Int?
    @Option(help: "How many times as long each fault lasts; 10 outlasts leases, requests and confirms.") var stretch =
        1.0
    @Option(
        name: .customLong("fault"), parsing: .singleValue,
        help: """
            Only these kinds of faults; may be repeated. One of: \(Self.names(of: Fault.self)); with --hosts one of: \
            \(Self.names(of: HostFault.self)).
            """)
    var only: [String] = []
    @Option(
        help: """
            Instead of faults: the sluice binary of the release before, which the processes are replaced with and by, one after the \
            other; needs --store. Tests/upgrade/run sees to both.
            """)
    var previous: String?
    @Option(help: "With --previous: a database, postgres://user@host/database, in which a schema is made.")
    var store: String?
    @Option(help: "The folder for everything; must not exist.") var folder: String
    @Option(help: "The sluice binary.") var sluice: String
    @Option(help: "The folder with the scripts that start a broker, a database and hosts.") var scripts: String
    @Flag(help: "Keep the folder of a good run, too.") var keep = false
    @Flag(help: "Print one JSON object as the last line of standard output.") var json = false
    @Flag(help: "Only the table at the end.") var quiet = false

    private static func names<Kind: CaseIterable & RawRepresentable<String>>(of kind: Kind.Type) -> String {
        kind.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private var clientCount: Int { clients ?? (hosts == nil ? 18 : 12) }
    /// A release before may not know the mode.
    private var viewCount: Int { views ?? (previous == nil ? 5 : 0) }
    private var writerCount: Int { writers ?? (previous == nil ? 3 : 0) }
    private var paceMilliseconds: Int { pace ?? (hosts == nil ? 150 : 400) }

    func validate() throws {
        guard clientCount >= partitions, partitions >= 3, workers >= 2, gateways >= 1, minutes > 0,
            paceMilliseconds > 0,
            stretch > 0, viewCount >= 0, writerCount >= 0
        else {
            throw ValidationError(
                """
                expected at least 3 partitions, as many clients as partitions, 2 workers, 1 gateway, and minutes, pace and \
                stretch above 0
                """
            )
        }
        guard (previous == nil) == (store == nil), previous == nil || (hosts == nil && only.isEmpty) else {
            throw ValidationError("expected --previous and --store together, without --hosts and --fault")
        }
        guard hosts == nil || hosts == 3 else { throw ValidationError("expected --hosts 3, the only number there is") }
        for name in only where hosts == nil ? Fault(rawValue: name) == nil : HostFault(rawValue: name) == nil {
            throw ValidationError("there is no fault \(name)\(hosts == nil ? "" : " of hosts")")
        }
        guard !FileManager.default.fileExists(atPath: folder) else {
            throw ValidationError("the folder \(folder) is already there; name one that is not")
        }
    }

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 1...999_999)
        // Before anything is started: a plan without one of its faults would be another plan.
        let processFaults = hosts == nil ? (only.isEmpty ? Fault.allCases : only.compactMap(Fault.init)) : []
        let clock = processFaults.contains(.moveClock) ? try WrongClock.besideThisProgram() : nil
        let folder = folder.absolutePath
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        Realm.Configuration.baseDirectory = URL(fileURLWithPath: folder + "/clients", isDirectory: true)
        let journal = try Journal(path: folder + "/journal", quiet: quiet)
        journal.note("seed \(seed), \(minutes) minutes, \(clientCount) client realms, everything in \(folder)")
        let result =
            if let hosts {
                try await burn(hosts: hosts, in: folder, seed: seed, journal)
            } else if let previous, let store {
                try await upgrade(from: previous.absolutePath, store: store, in: folder, seed: seed, journal)
            } else {
                try await burnProcesses(in: folder, seed: seed, faults: processFaults, clock: clock, journal)
            }
        let report = try result.get()
        if !quiet || !report.passed { print(report.table) }
        for finding in report.findings { print("finding: \(finding)") }
        if json { print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self)) }
        guard report.passed else {
            print("failed; kept in \(folder); again: Tests/fire/run \(options(seed))")
            throw ExitCode(1)
        }
        if !keep { try FileManager.default.removeItem(atPath: folder) }
    }

    private func settings(_ seed: UInt64, seconds: Int? = nil) -> FireRun.Settings {
        FireRun.Settings(
            seed: seed, seconds: seconds ?? Int(minutes * 60), clients: clientCount, partitions: partitions,
            views: viewCount, writers: writerCount, pace: .milliseconds(paceMilliseconds))
    }

    /// Processes beside each other, with one broker and one disk.
    private func burnProcesses(
        in folder: String, seed: UInt64, faults: [Fault], clock: WrongClock?, _ journal: Journal
    ) async throws -> Result<FireReport, any Error> {
        let node = PrivateBroker(script: scripts.absolutePath + "/broker", folder: folder + "/broker")
        let cluster = try await BurningCluster(
            folder: folder, sluice: sluice.absolutePath, broker: node, amqpURL: try await node.start(),
            workers: workers, gateways: gateways, clock: clock)
        let stretch = stretch
        let run = FireRun(settings: settings(seed), cluster: cluster, journal: journal) { _, terminations in
            let echo = Echo(
                amqpURL: cluster.cluster.amqpURL, topology: Topology(prefix: cluster.cluster.prefix),
                slices: cluster.cluster.slices, journal: journal)
            return ProcessTrouble(
                arsonist: Arsonist(cluster: cluster, journal: journal, echo: echo, terminations: terminations),
                seed: seed, faults: faults, stretch: stretch)
        }
        let result = await Result { try await run.run() }
        // Stopped and unmounted in any case: nothing is left running, and the folder can be removed.
        await cluster.stop()
        try? await node.stop()
        return result
    }

    /// Processes beside each other of which some are of the release before.
    private func upgrade(
        from previous: String, store: String, in folder: String, seed: UInt64, _ journal: Journal
    ) async throws -> Result<FireReport, any Error> {
        let node = PrivateBroker(script: scripts.absolutePath + "/broker", folder: folder + "/broker")
        let schema = "upgrade_\(String(seed, radix: 36))_\(ProcessInfo.processInfo.processIdentifier)"
        let cluster = try await BurningCluster(
            folder: folder, sluice: sluice.absolutePath, broker: node, amqpURL: try await node.start(),
            workers: workers, gateways: gateways, clock: nil,
            settings: ["SLUICE_STORE_URL": "\(store)\(store.contains("?") ? "&" : "?")schema=\(schema)"])
        let pause = Duration.seconds(minutes * 60 / 10)
        let run = FireRun(
            settings: settings(seed, seconds: 3_600), cluster: MixedCluster(cluster, previous: previous),
            journal: journal
        ) { clients, terminations in
            RollingUpgrade(
                cluster: cluster, previous: previous, clients: clients, terminations: terminations, journal: journal,
                pause: pause)
        }
        let result = await Result { try await run.run() }
        await cluster.stop()
        try? await node.stop()
        return result
    }

    /// Hosts with a broker and a database that are on several of them.
    private func burn(
        hosts count: Int, in folder: String, seed: UInt64, _ journal: Journal
    ) async throws -> Result<FireReport, any Error> {
        let hosts = try await HostCluster.build(
            hosts: count, folder: folder, sluice: sluice.absolutePath, scripts: .init(in: scripts.absolutePath),
            prefix: "fire", environment: BurningCluster.haste)
        let faults = only.isEmpty ? HostFault.allCases : only.compactMap(HostFault.init)
        let stretch = stretch
        let run = FireRun(settings: settings(seed), cluster: hosts, journal: journal) { clients, terminations in
            await HostTrouble(
                hosts: hosts, clients: clients, terminations: terminations, journal: journal, seed: seed,
                faults: faults, stretch: stretch)
        }
        let result = await Result { try await run.run() }
        await hosts.stop()
        return result
    }

    /// Everything that the course of a run depends on.
    private func options(_ seed: UInt64) -> String {
        ((hosts.map { ["--hosts \($0)"] } ?? ["--workers \(workers) --gateways \(gateways)"])
            + [
                "--seed \(seed) --minutes \(minutes) --clients \(clientCount) --partitions \(partitions) --views \(viewCount) --writers \(writerCount)"
            ]
            + ["--pace \(paceMilliseconds) --stretch \(stretch)"] + only.map { "--fault \($0)" })
            .joined(separator: " ")
    }
}
