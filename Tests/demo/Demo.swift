import ArgumentParser
import Foundation
import LocalCluster

@main
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "The main job of Sluice on one machine; started by deploy/demo, which sets up the broker.",
        subcommands: [RunCommand.self, ClientCommand.self])
}

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Start a cluster and its clients, and take them through a termination.")

    @Option(help: "The broker's URL, for a cluster on one machine.") var amqpURL: String?
    @Option(help: "How many hosts to build instead; only within a room (Tests/hosts room).") var hosts: Int?
    @Option(help: "The folder with the scripts that start hosts, a database and brokers.") var scripts = "Tests"
    @Option(help: "The folder for stores, client realms and logs.") var folder: String
    @Option(help: "The recording of a stock client to publish, one event a line.") var recording: String
    @Option(help: "The sluice binary.") var sluice: String
    @Flag(help: "End when everything was shown, instead of keeping the cluster up.") var exit = false
    @Flag(help: "Print one JSON object as the last line of standard output.") var json = false

    func validate() throws {
        guard (amqpURL == nil) != (hosts == nil) else { throw ValidationError("expected --amqp-url, or --hosts 3") }
        guard hosts == nil || hosts == 3 else { throw ValidationError("expected --hosts 3, the only number there is") }
    }

    func run() async throws {
        let narrator = Narrator(toStandardError: json)
        // A client process that died is an error to tell, not the end of this one.
        signal(SIGPIPE, SIG_IGN)
        let stage: any Stage
        do {
            stage = try await makeStage()
        } catch {
            let failure = Failure(step: "Setting up", error: "\(error)")
            narrator.conclude(failure)
            if json { print(try failure.json()) }
            throw ExitCode(70)
        }
        let scenario = Scenario(stage: stage, recording: recording, narrator: narrator)
        do {
            let report = try await scenario.run()
            scenario.narrator.show(report)
            if !exit {
                // The link logs in with the demo's own admin token, once.
                let page = try? await stage.cluster.operate("dashboard", "--page", "campaigns")
                scenario.narrator.showCommandsToTry(stage, dashboard: page)
                await Signals.waitForInterrupt()
            }
            await scenario.stop()
            scenario.narrator.conclude(report)
            if json { print(try report.json()) }
            if !report.passed { throw ExitCode(1) }
        } catch let code as ExitCode {
            throw code
        } catch {
            await scenario.stop()
            scenario.narrator.showLogs(in: scenario.cluster)
            let failure = Failure(step: scenario.step, error: "\(error)")
            scenario.narrator.conclude(failure)
            if json { print(try failure.json()) }
            throw ExitCode(70)
        }
    }

    private func makeStage() async throws -> any Stage {
        guard let hosts else {
            return OneMachine(LocalCluster(amqpURL: amqpURL ?? "", folder: folder, sluice: sluice))
        }
        return ThreeHosts(
            try await HostCluster.build(
                hosts: hosts, folder: folder, sluice: sluice, scripts: .init(in: scripts.absolutePath)))
    }
}
