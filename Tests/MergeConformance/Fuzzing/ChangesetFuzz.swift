import Changesets

enum ChangesetFuzz {
    /// Far beyond what inputs of that size hold.
    static let limits = ChangesetLimits(maxBytes: 1 << 16, maxInstructions: 1 << 14, maxPathElements: 256)

    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        if let parts = try? ConcatenatedChangesets.split(bytes, limits: limits) {
            try BrokenLaw.check(parts.flatMap(\.self) == bytes, "the parts of a buffer are not the whole")
        }
        guard let changeset = try? Changeset(parsing: bytes, limits: limits) else { return }
        try check(changeset)
    }

    /// Encoding is the inverse of parsing, in both forms.
    static func check(_ changeset: Changeset) throws(BrokenLaw) {
        let encoded = changeset.encoded()
        let again: Changeset
        do throws(ChangesetError) {
            again = try Changeset(parsing: encoded)
        } catch {
            throw BrokenLaw("what was encoded cannot be parsed: \(error)")
        }
        try BrokenLaw.check(again.instructions == changeset.instructions, "parsing again gives other instructions")
        if !changeset.isEmpty {
            try BrokenLaw.check(again.strings == changeset.strings, "parsing again gives other strings")
        }
        try BrokenLaw.check(again.encoded() == encoded, "encoding again gives other bytes")

        var streaming = StreamingEncoder()
        for instruction in changeset.instructions {
            do throws(ChangesetError) {
                try streaming.append(instruction, from: changeset.strings)
            } catch {
                throw BrokenLaw("a parsed instruction cannot be recorded: \(error)")
            }
        }
        let recorded = try? Changeset(parsing: streaming.bytes)
        let comparison = InstructionComparison(
            expected: InstructionList([changeset]), ours: InstructionList(recorded.map { [$0] } ?? []))
        try BrokenLaw.check(
            recorded != nil && comparison.firstDifference == nil, "the recorded form has other instructions")
    }
}
