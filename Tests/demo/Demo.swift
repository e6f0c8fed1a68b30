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

    @Option(help: "The broker's URL.") var amqpURL: String
    @Option(help: "The folder for stores, client realms and logs.") var folder: String
    @Option(help: "The recording of a stock client to publish, one event a line.") var recording: String
    @Option(help: "The sluice binary.") var sluice: String
    @Flag(help: "End when everything was shown, instead of keeping the cluster up.") var exit = false
    @Flag(help: "Print one JSON object as the last line of standard output.") var json = false

    func run() async throws {
        let scenario = Scenario(
            cluster: LocalCluster(amqpURL: amqpURL, folder: folder, sluice: sluice),
            recording: recording, narrator: Narrator(toStandardError: json))
        // A client process that died is an error to tell, not the end of this one.
        signal(SIGPIPE, SIG_IGN)
        do {
            let report = try await scenario.run()
            scenario.narrator.show(report)
            if !exit {
                scenario.narrator.showCommandsToTry(scenario.cluster)
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
}
