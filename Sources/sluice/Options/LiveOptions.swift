import ArgumentParser

/// `--live`: looks again and again instead of once.
struct LiveOptions: ParsableArguments {
    @Flag(help: "Go on, once a second, until interrupted.") var live = false
    @Option(help: "Seconds between two looks with --live.") var interval = 1.0

    /// Looks once, or until interrupted.
    func run(_ look: () async throws -> Void) async throws {
        repeat {
            try await look()
            if live { try await Task.sleep(for: .seconds(max(0.1, interval))) }
        } while live
    }

    /// Prints a table; a later look replaces it on a terminal.
    func print(_ table: Table) {
        live ? Printing.refresh(table.rendered()) : Printing.line(table.rendered())
    }
}
