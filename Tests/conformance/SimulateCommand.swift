import ArgumentParser
import Foundation
import MergeConformance

/// `conformance simulate`: random clients and a server, checked after every exchange.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Let random clients edit one realm through a server, and compare all copies.",
        discussion: """
            Each seed is one run: clients edit, upload, download, lose connections, crash and are reset at random, and \
            at every quiet point all copies have to be equal. A failure is shrunk to the few steps that matter.
            """)

    @Option(help: "Which seeds to run, as FIRST...LAST or one number.")
    var seeds: SeedRange = SeedRange(1...1_000)

    @Option(help: "How many clients; by default 2 to 4, by the seed.")
    var clients: Int?

    @Option(help: "How many steps a run has.")
    var steps = 60

    @Option(help: "By which rules the peers merge, apply and record: convergent, stock or mixed.")
    var compatibility: SimulationRules = .convergent

    @Option(help: "What the realm is made of; 'all' runs every profile, 'list' lists them.")
    var profile = "rich"

    @Option(help: "How many runs go on side by side.")
    var jobs = 2

    @Option(help: "How many failures to shrink and print.")
    var show = 3

    @Option(help: "Where to keep the scripts of failures.")
    var keep: String?

    @Option(
        help:
            "Put a mistake into the merge, to see it found: \(EngineFault.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var fault: EngineFault?

    @Option(help: "Replay a script instead.")
    var script: [String] = []

    @Flag(help: "Print one JSON object a profile.")
    var json = false

    func validate() throws {
        guard (1...SimulationScript.maxClients).contains(clients ?? 1) else {
            throw ValidationError("--clients is a number from 1 to \(SimulationScript.maxClients)")
        }
        guard steps >= 0, jobs >= 1, show >= 0 else {
            throw ValidationError("--steps, --jobs and --show are not negative, and there is at least one job")
        }
    }

    func run() async throws {
        guard script.isEmpty else { return try replay() }
        guard profile != "list" else {
            for profile in SimulationProfile.all { print("\(profile.name): \(profile.summary)") }
            return
        }
        let profiles = profile == "all" ? SimulationProfile.all : SimulationProfile.named(profile).map { [$0] } ?? []
        guard !profiles.isEmpty else {
            throw ValidationError("no profile is called '\(profile)'; --profile list lists them")
        }
        var total = Verdict()
        for profile in profiles where profiles.count == 1 || !profile.needsOwnPeers || compatibility == .convergent {
            let report = await run(profile)
            total.passed += report.verdict.passed
            total.failed += report.verdict.failed
        }
        print(total.summary)
        if total.failed > 0 { throw ExitCode(1) }
    }

    private func run(_ profile: SimulationProfile) async -> SimulationCampaign.Report {
        var options = SimulationGenerator.Options()
        options.profile = profile
        options.rules = compatibility
        options.clients = clients
        options.steps = steps
        options.fault = fault
        let meter = ProgressMeter(profile.name, total: seeds.range.count)
        let report = await SimulationCampaign(options, width: jobs, maxCases: show).run(seeds.range) { verdict in
            meter.update(verdict)
        }
        let rate = meter.finish(report.verdict)
        if json {
            let fields = [
                "\"profile\":\"\(profile.name)\"", "\"rules\":\"\(compatibility.rawValue)\"",
                "\"passed\":\(report.verdict.passed)", "\"failed\":\(report.verdict.failed)",
                "\"seeds_per_second\":\(Int(rate))",
            ]
            print("{\(fields.joined(separator: ","))}")
        } else {
            print("\(profile.name): \(report.verdict.summary), \(Int(rate)) seeds/s")
        }
        for found in report.cases { show(found, profile) }
        return report
    }

    private func show(_ found: SimulationCampaign.Case, _ profile: SimulationProfile) {
        var text = "\n\(found.failure)\n\(found.stepsBefore) steps shrunk to \(found.script.steps.count):\n\n"
        text += found.script.description
        if let keep {
            let name = "\(profile.name)-\(compatibility.rawValue)-\(found.seed).script"
            let url = URL(fileURLWithPath: keep).appendingPathComponent(name)
            do {
                try FileManager.default.createDirectory(atPath: keep, withIntermediateDirectories: true)
                try Data(found.script.description.utf8).write(to: url)
                text += "\nKept as \(url.path)\n"
            } catch {
                text += "\nNot kept: \(error)\n"
            }
        }
        FileHandle.standardError.write(Data(text.utf8))
    }

    private func replay() throws {
        var verdict = Verdict()
        for file in script {
            let text = try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
            if let failure = Simulation.run(try SimulationScript(parsing: text), fault: fault) {
                verdict.failed += 1
                print("\(file): \(failure)")
            } else {
                verdict.passed += 1
                print("\(file): passed")
            }
        }
        print(verdict.summary)
        if verdict.failed > 0 { throw ExitCode(1) }
    }
}

/// `1...1000`, or one number.
struct SeedRange: ExpressibleByArgument {
    let range: ClosedRange<UInt64>

    init(_ range: ClosedRange<UInt64>) { self.range = range }

    init?(argument: String) {
        let parts = argument.components(separatedBy: "...")
        guard let low = parts.first.flatMap(UInt64.init), let high = parts.last.flatMap(UInt64.init), parts.count <= 2,
            low <= high, high - low < UInt64(Int.max)
        else { return nil }
        range = low...high
    }

    var defaultValueDescription: String { "\(range.lowerBound)...\(range.upperBound)" }
}

extension SimulationRules: ExpressibleByArgument {}
extension EngineFault: ExpressibleByArgument {}
