package import Changesets

/// Several encodings one after another in one buffer, as a client's history keeps what it integrated in one commit.
/// Such a buffer is not a changeset.
package enum ConcatenatedChangesets {
    /// The parts; a part that was empty has left no trace.
    package static func split(
        _ bytes: [UInt8], limits: ChangesetLimits = .default
    ) throws(ChangesetError) -> [[UInt8]] {
        // The limit of bytes is for all of them together.
        _ = try ChangesetReader(bytes, limits: limits)
        var parts: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest[..<(restart(in: rest, limits) ?? rest.endIndex)]
            parts.append(Array(part))
            if part.endIndex == rest.endIndex { _ = try Changeset(parsing: Array(part), limits: limits) }
            rest = rest[part.endIndex...]
        }
        return parts
    }

    /// Where another encoding begins behind a whole one: there string number 0 is defined again.
    private static func restart(in bytes: ArraySlice<UInt8>, _ limits: ChangesetLimits) -> Int? {
        bytes.indices.dropFirst().first { index in
            guard bytes[index] == 0x3F, index + 1 < bytes.endIndex, bytes[index + 1] == 0 else { return false }
            let before = try? Changeset(parsing: Array(bytes[..<index]), limits: limits)
            return before.map { $0.strings.count > 0 } ?? false
        }
    }
}
