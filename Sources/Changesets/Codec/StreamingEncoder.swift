/// Builds a changeset in the form in which a local write is recorded: each string is defined just before the
/// instruction that first needs it (docs/changesets.md, "Two forms").
///
/// Callers intern an instruction's strings in the order of that section: the owner class, the class, a string key, the
/// field, string path elements, the link target's class, its string key.
package struct StreamingEncoder: Sendable {
    package private(set) var changeset = Changeset()
    private var writer = ChangesetWriter()
    private var definedCount = 0
    package let isKept: Bool

    /// - Parameter isKept: whether what is appended is wanted.
    package init(isKept: Bool = true) { self.isKept = isKept }

    /// The bytes of what has been recorded so far; zero bytes while there is no instruction, whatever has been interned.
    package var bytes: [UInt8] { writer.output.bytes }

    /// The table for interning strings; what is added to it is defined in the bytes together with the next instruction.
    package var strings: InternTable {
        get { changeset.strings }
        _modify { yield &changeset.strings }
    }

    package mutating func append(_ instruction: Instruction) {
        guard isKept else { return }
        while definedCount < changeset.strings.count {
            writer.writeDefinition(UInt32(truncatingIfNeeded: definedCount), changeset.strings.strings[definedCount])
            definedCount += 1
        }
        changeset.instructions.append(instruction)
        writer.write(instruction)
    }
}
