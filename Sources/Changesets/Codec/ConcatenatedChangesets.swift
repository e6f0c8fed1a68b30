/// Several encodings one after another in one buffer, as a client's history keeps what it integrated in one commit.
/// Such a buffer is not a changeset.
package enum ConcatenatedChangesets {
    /// The parts; a part that was empty has left no trace.
    package static func split(
        _ bytes: [UInt8], limits: ChangesetLimits = .default
    ) throws(ChangesetError) -> [[UInt8]] {
        var reader = try ChangesetReader(bytes, limits: limits)
        var parts: [[UInt8]] = []
        while !reader.input.isAtEnd {
            parts.append(Array(bytes[try reader.readUntilRestart()]))
        }
        return parts
    }
}
