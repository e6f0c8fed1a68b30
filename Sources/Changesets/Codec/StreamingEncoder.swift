/// Builds a changeset in the form in which a local write is recorded: each string is defined just before the
/// instruction that first needs it (spec: changesets.md, section 6).
///
/// Callers intern an instruction's strings in the order of that section: the owner class, the class, a string key, the
/// field, string path elements, the link target's class, its string key.
package struct StreamingEncoder: Sendable {
    package private(set) var changeset = Changeset()
    private var writer = ChangesetWriter()

    package init() {}

    /// What has been recorded so far; zero bytes while there is no instruction, whatever has been interned.
    package var bytes: [UInt8] { changeset.isEmpty ? [] : writer.output.bytes }

    package mutating func intern(_ string: ByteString) -> InternedString {
        let count = changeset.strings.count
        let interned = changeset.strings.intern(string)
        if changeset.strings.count > count { writer.writeDefinition(interned.index, string) }
        return interned
    }

    package mutating func intern(_ key: ObjectKey) -> PrimaryKey {
        if case .string(let string) = key { return .string(intern(string)) }
        // No other key touches the table.
        return changeset.strings.intern(key)
    }

    package mutating func append(_ instruction: Instruction) {
        changeset.instructions.append(instruction)
        writer.write(instruction)
    }
}
