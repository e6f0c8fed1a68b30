/// Something that is not as it was recorded.
package struct Difference: Sendable {
    package enum Kind: String, Sendable {
        /// Other instructions than the recorded ones.
        case instructions
        /// One side refuses what the other merges.
        case refusal
        /// The merged changes cannot be applied.
        case apply
        /// A peer ends in another state than the recorded one, or than another peer.
        case state
        /// A query selects other objects than the recorded ones, or is written otherwise.
        case query
    }

    package var kind: Kind
    package var line: Int
    /// What was done, and by whom: "peer 1 integrates version 3 of peer 2 as its version 7".
    package var event: String
    package var peer: UInt64?
    package var from: UInt64?
    package var version: UInt64?
    /// What was expected and what came, in one line.
    package var message: String
    package var comparison: InstructionComparison?

    package init(
        _ kind: Kind, line: Int, event: String, message: String, comparison: InstructionComparison? = nil
    ) {
        self.kind = kind
        self.line = line
        self.event = event
        self.message = message
        self.comparison = comparison
    }

    package var lines: [String] {
        ["line \(line), \(event): \(message)"] + (comparison?.lines.map { "  " + $0 } ?? [])
    }
}
