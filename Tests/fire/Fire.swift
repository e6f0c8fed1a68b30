import ArgumentParser
import DeviceSync
import Foundation
import LocalCluster

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
    @Option(help: "How many client realms.") var clients = 18
    @Option(help: "Over how many partitions they are spread; a third belong to an app that is terminated.")
    var partitions = 6
    @Option(help: "How many workers.") var workers = 3
    @Option(help: "How many gateways.") var gateways = 2
    @Option(help: "Milliseconds between two changes of one client.") var pace = 150
    @Option(help: "How many times as long each fault lasts; 10 outlasts leases, requests and confirms.") var stretch =
        1.0
    @Option(
        name: .customLong("fault"), parsing: .singleValue,
        help:
            "Only these kinds of faults; may be repeated. One of: \(Fault.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var only: [Fault] = []
    @Option(help: "The folder for everything; must not exist.") var folder: String
    @Option(help: "The sluice binary.") var sluice: String
    @Option(help: "The script that starts a private broker.") var broker: String
    @Flag(help: "Keep the folder of a good run, too.") var keep = false
    @Flag(help: "Print one JSON object as the last line of standard output.") var json = false
    @Flag(help: "Only the table at the end.") var quiet = false

    func validate() throws {
        guard clients >= partitions, partitions >= 3, workers >= 2, gateways >= 1, minutes > 0, pace > 0, stretch > 0
        else {
            throw ValidationError(
                """
                expected at least 3 partitions, as many clients as partitions, 2 workers, 1 gateway, and minutes, pace and \
                stretch above 0
                """
            )
        }
        guard !FileManager.default.fileExists(atPath: folder) else {
            throw ValidationError("the folder \(folder) is already there; name one that is not")
        }
    }

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let faults = only.isEmpty ? Fault.allCases : only
        // Before anything is started: a plan without one of its faults would be another plan.
        let clock = faults.contains(.moveClock) ? try WrongClock.besideThisProgram() : nil
        let folder = folder.absolutePath
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        Realm.Configuration.baseDirectory = URL(fileURLWithPath: folder + "/clients", isDirectory: true)
        let journal = try Journal(path: folder + "/journal", quiet: quiet)
        journal.note("seed \(seed), \(minutes) minutes, \(clients) client realms, everything in \(folder)")
        let node = PrivateBroker(script: broker.absolutePath, folder: folder + "/broker")
        let cluster = try await BurningCluster(
            folder: folder, sluice: sluice.absolutePath, broker: node, amqpURL: try await node.start(),
            workers: workers, gateways: gateways, clock: clock)
        let run = FireRun(
            settings: FireRun.Settings(
                seed: seed, seconds: Int(minutes * 60), clients: clients, partitions: partitions, workers: workers,
                gateways: gateways, faults: faults, stretch: stretch,
                pace: .milliseconds(pace)),
            cluster: cluster, journal: journal)
        let result = await Result { try await run.run() }
        // Stopped and unmounted in any case: nothing is left running, and the folder can be removed.
        await cluster.stop()
        try? await node.stop()
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

    /// Everything that the course of a run depends on.
    private func options(_ seed: UInt64) -> String {
        (["--seed \(seed) --minutes \(minutes) --clients \(clients) --partitions \(partitions) --workers \(workers)"]
            + ["--gateways \(gateways) --pace \(pace) --stretch \(stretch)"] + only.map { "--fault \($0.rawValue)" })
            .joined(separator: " ")
    }
}

extension Fault: ExpressibleByArgument {}
