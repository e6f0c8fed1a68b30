/// Why two sequences of changes cannot be merged. The peer's changeset is to be refused and nothing kept of the call.
package struct MergeError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// Both sides define a class or a property, in different ways.
        package static let schemaMismatch = Code(description: "schema mismatch")
        /// The two sides disagree about a list's size, or an index lies outside of it.
        package static let listMismatch = Code(description: "list mismatch")
        /// A list on one side is something else on the other.
        package static let inconsistentPaths = Code(description: "inconsistent paths")
        /// A combination that no honest history contains.
        package static let impossiblePair = Code(description: "impossible pair")
        /// An instruction that refers to a string its changeset does not have, or is too deep or too numerous.
        package static let malformedChangeset = Code(description: "malformed changeset")
        /// The merge would take more work than its caller allows.
        package static let budgetExceeded = Code(description: "budget exceeded")
        /// The merge takes longer than its caller waits for it in that place. It says nothing about either side.
        package static let paused = Code(description: "paused")
        /// Nobody waits for the merge any more. It says nothing about either side.
        package static let cancelled = Code(description: "cancelled")
    }

    /// An instruction of the two that did not go together.
    package struct Site: Hashable, Sendable, CustomStringConvertible {
        /// The version of its changeset: ours for the local side, the sender's for the incoming one.
        package var version: UInt64
        /// The instruction's place in that changeset, counted from 0 as it was before the merge.
        package var instruction: Int
        /// Kind, class, key, path and sizes as they were when the two met; never a value.
        package var text: String

        package var description: String { "instruction \(instruction) of version \(version), \(text)" }
    }

    package var code: Code
    package var message: String
    package var local: Site?
    package var incoming: Site?

    package var description: String {
        var text = "\(code): \(message)"
        if let local { text += "; local \(local)" }
        if let incoming { text += "; incoming \(incoming)" }
        return text
    }
}
