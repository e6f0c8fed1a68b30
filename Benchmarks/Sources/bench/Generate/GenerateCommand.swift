import ArgumentParser
import Foundation

/// Makes inputs for `bench merge` of any size.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Print two offline clients' changesets, in the shape of the recorded inputs."
    )

    @Argument(help: "One of: \(MergeInputKind.allCases.map(\.rawValue).joined(separator: ", ")).") var kind:
        MergeInputKind
    @Argument(help: "How many transactions each side makes.") var transactions: Int
    @Option(help: "How many instructions each transaction has.") var instructions = 10
    @Option(help: "Other edits of the same kind.") var seed: UInt64 = 1

    func validate() throws {
        guard (1...1_000_000).contains(transactions), (1...100_000).contains(instructions) else {
            throw ValidationError("expected 1 to 1,000,000 transactions of 1 to 100,000 instructions")
        }
    }

    func run() throws {
        let input = MergeInput(
            kind: kind, transactions: transactions, instructionsPerTransaction: instructions, seed: seed)
        FileHandle.standardOutput.write(try JSONEncoder().encode(input))
    }
}

extension MergeInputKind: ExpressibleByArgument {}
