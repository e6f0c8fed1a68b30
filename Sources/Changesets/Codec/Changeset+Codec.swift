extension Changeset {
    /// Reads a changeset in streaming or normalized form.
    ///
    /// - Throws: `malformed`, or `limitExceeded` for what the format allows but `limits` do not.
    package init(parsing bytes: [UInt8], limits: ChangesetLimits = .default) throws(ChangesetError) {
        var reader = try ChangesetReader(bytes, limits: limits)
        self = try reader.read()
    }

    /// The normalized form: all strings, also unused ones, then the instructions; nothing if there are none.
    package func encoded() -> [UInt8] {
        guard !instructions.isEmpty else { return [] }
        var writer = ChangesetWriter()
        for (index, string) in strings.strings.enumerated() {
            writer.writeDefinition(UInt32(truncatingIfNeeded: index), string)
        }
        for instruction in instructions {
            writer.write(instruction)
        }
        return writer.output.bytes
    }
}
