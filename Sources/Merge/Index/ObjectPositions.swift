package import Changesets

/// Where in a long changeset the instructions on each object are. Made once of an entry of a history that many short uploads meet one after the
/// other, so that each reads only what is on its own objects.
package struct ObjectPositions: Sendable {
    /// A shorter changeset is read as a whole.
    package static let minInstructions = 64

    /// Hashes of objects (`Touches`), ascending, and the instructions on them, in the order of the changeset where the hash is the same.
    private var hashes: [UInt32]
    private var positions: [UInt32]
    /// The instructions that concern no single object.
    private var others: [UInt32] = []

    /// - Returns: nil if the changeset is too short for it to be of use.
    package init?(_ changeset: Changeset) {
        guard changeset.instructions.count >= Self.minInstructions else { return nil }
        var found: [(hash: UInt32, position: UInt32)] = []
        found.reserveCapacity(changeset.instructions.count)
        for (position, instruction) in changeset.instructions.enumerated() {
            let position = UInt32(truncatingIfNeeded: position)
            if let hash = Touches.object(of: instruction, in: changeset) {
                found.append((hash, position))
            } else {
                others.append(position)
            }
        }
        found.sort { ($0.hash, $0.position) < ($1.hash, $1.position) }
        hashes = found.map(\.hash)
        positions = found.map(\.position)
    }

    /// The part of the changeset that an incoming one may meet that touches these objects and erases no class or column.
    ///
    /// - Returns: nil if that is most of it, or if a string that it names is not there.
    func part(of changeset: Changeset, on touches: Touches) -> Changeset? {
        guard !touches.isDestructive, touches.keys.count <= hashes.count / 8 else { return nil }
        var wanted = others
        for key in touches.keys {
            var position = firstIndex(from: key)
            while position < hashes.count, hashes[position] == key {
                wanted.append(positions[position])
                position += 1
            }
        }
        guard wanted.count <= changeset.instructions.count / 4 else { return nil }
        wanted.sort()
        var encoder = StreamingEncoder()
        for position in wanted {
            guard
                (try? encoder.append(changeset.instructions[Int(position)], from: changeset.strings)) != nil
            else { return nil }
        }
        return encoder.changeset
    }

    private func firstIndex(from hash: UInt32) -> Int {
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
