import ArgumentParser
import Foundation
import LocalCluster

/// A cluster under attack by strangers, beside an honest app; started by Tests/siege/run.
@main
struct Siege: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "siege", abstract: "Attack a cluster from outside, and see what an honest app notices.",
        subcommands: [Besiege.self, StrangerCommand.self], defaultSubcommand: Besiege.self)
}

struct Besiege: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Start a cluster, attack it in every way, and end with one table.",
        discussion: """
            What strangers send follows from the seed. A failing run's folder is kept: the journal, the logs of all \
            processes and the stores. Exit status 1: a bound was broken.
            """)

    @Option(help: "Where attacks and edits come from; another for every run if none is given.") var seed: UInt64?
    @Option(help: "How long all attacks and the calm before and after take.") var minutes = 10.0
    @Option(
        name: .customLong("attack"), parsing: .singleValue,
        help: "Only this attack; may be repeated. \(Attack.all.map(\.name).joined(separator: ", ")).")
    var only: [String] = []
    @Option(help: "Seconds of rest after each attack.") var rest = 4.0
    @Option(help: "How many honest clients, in pairs.") var clients = 6
    @Option(help: "Milliseconds between two changes of one honest client.") var pace = 200
    @Option(help: "How many gateways.") var gateways = 1
    @Option(help: "The folder for everything; must not exist.") var folder: String
    @Option(help: "The sluice binary.") var sluice: String
    @Option(help: "The script that starts a private broker.") var broker: String
    @Option(help: "How the binaries were built, for the report.") var build = "debug"
    @Flag(help: "Report latency without judging it: for machines that have other work.") var ignoreLatency = false
    @Flag(help: "Keep the folder of a good run, too.") var keep = false
    @Flag(help: "Print one JSON object as the last line of standard output.") var json = false
    @Flag(help: "Only the table at the end.") var quiet = false
    @Flag(help: "List the attacks.") var list = false

    func validate() throws {
        guard clients >= 2, clients.isMultiple(of: 2), minutes > 0, pace > 0, gateways >= 1, rest >= 0 else {
            throw ValidationError("expected an even number of clients, a gateway, and minutes and pace above 0")
        }
        if let unknown = only.first(where: { Attack.named($0) == nil }) {
            throw ValidationError("there is no attack \(unknown); see --list")
        }
        guard list || !FileManager.default.fileExists(atPath: folder) else {
            throw ValidationError("the folder \(folder) is already there; name one that is not")
        }
    }

    func run() async throws {
        if list { return print(Attack.all.map { "\($0.name): \($0.summary)" }.joined(separator: "\n")) }
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let folder = folder.absolutePath
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let journal = try Journal(path: folder + "/journal", quiet: quiet)
        journal.note("seed \(seed), \(minutes) minutes, everything in \(folder)")
        let node = PrivateBroker(script: broker.absolutePath, folder: folder + "/broker")
        let sieged = SiegedCluster(
            folder: folder, sluice: sluice.absolutePath, broker: node, amqpURL: try await node.start(),
            gateways: gateways)
        let run = SiegeRun(
            settings: SiegeRun.Settings(
                seed: seed, seconds: Int(minutes * 60),
                attacks: only.isEmpty ? Attack.all : only.compactMap(Attack.named), rest: rest, clients: clients,
                pace: .milliseconds(pace), judgesLatency: !ignoreLatency, configuration: build),
            sieged: sieged, journal: journal)
        let result = await Result { try await run.run() }
        // Stopped in any case: nothing is left running, and the folder can be removed.
        await sieged.cluster.stop()
        try? await node.stop()
        let report = try result.get()
        print("seed \(report.seed), \(report.seconds) s, \(report.configuration) build\n\n\(report.table)")
        for row in report.rows where !row.honestErrors.isEmpty {
            print("\n\(row.name): " + row.honestErrors.prefix(10).joined(separator: "\n    "))
        }
        for finding in report.findings { print("finding: \(finding)") }
        if json { print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self)) }
        guard report.passed else {
            print("a bound was broken; kept in \(folder); again: Tests/siege/run --seed \(seed) --minutes \(minutes)")
            throw ExitCode(1)
        }
        if !keep { try FileManager.default.removeItem(atPath: folder) }
    }
}

/// One attack by a process of its own: what `Besiege` starts.
struct StrangerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stranger", abstract: "Make one attack and print what was sent and refused.", shouldDisplay: false)

    @Option var attack: String
    @Option var seed: UInt64
    @Option var seconds: Double
    @Option(help: "What the stranger knows, as JSON.") var target: String

    func run() async throws {
        guard let attack = Attack.named(attack) else { throw ValidationError("there is no attack \(self.attack)") }
        let stranger = Stranger(
            try JSONDecoder().decode(Stranger.Target.self, from: Data(target.utf8)), seed: seed, seconds: seconds)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await attack.run(stranger) } catch {
                    FileHandle.standardError.write(Data("\(attack.name): \(error)\n".utf8))
                }
            }
            group.addTask { try? await Task.sleep(until: stranger.deadline) }
            _ = await group.next()
            // What still waits for an answer is left with its connections.
            print(String(decoding: (try? JSONEncoder().encode(stranger.tally.current)) ?? Data(), as: UTF8.self))
            Foundation.exit(0)
        }
    }
}
