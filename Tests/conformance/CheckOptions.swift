import ArgumentParser
import Changesets

/// What the checks of recordings have in common.
struct CheckOptions: ParsableArguments {
    @Argument(help: "Recordings, plain or gzip.") var files: [String]
    @Option(help: "Whose rules to merge by: stock (exactly the reference's) or convergent (ours).")
    var compatibility = Compatibility.stock
    @Option(help: "How many differences to show of each file.") var limit = 3
    @Flag(help: "Print one JSON object a file, and one with the totals at the end.") var json = false
    @Flag(help: "Print only what fails, and the totals.") var quiet = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit: expected 0 or more, found \(limit)") }
        if files.isEmpty { throw ValidationError("expected one file at least") }
    }
}

enum Compatibility: String, ExpressibleByArgument, CaseIterable {
    case stock, convergent

    var merge: PeerCompatibility {
        switch self {
        case .stock: .stockClients
        case .convergent: .convergent
        }
    }
}
