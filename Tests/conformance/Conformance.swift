import ArgumentParser

/// Checks the merge engine against recordings of the reference engine, and against its own laws.
@main
struct Conformance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the merge engine against recordings, and against its own laws.",
        subcommands: [
            ReplayCommand.self, PairsCommand.self, QueriesCommand.self, MergeBenchCommand.self, SimulateCommand.self,
            ExhaustiveCommand.self,
        ])
}
