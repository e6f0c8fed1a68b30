import Changesets
package import Merge

/// What our merge makes of a recorded pair.
package enum PairOutcome: Equatable, Sendable {
    case merged(ours: [[UInt8]], theirs: [[UInt8]])
    case refused(Refusal)

    /// The texts of two refusals are nobody's promise, so any two are equal.
    package struct Refusal: Equatable, Sendable, CustomStringConvertible {
        package var description: String
        package static func == (left: Refusal, right: Refusal) -> Bool { true }
    }
}

extension RecordedPair {
    package func merge(_ engine: MergeEngine) -> PairOutcome {
        var local: [LocalChangeset] = []
        var incoming: [IncomingChangeset] = []
        do {
            for (position, recorded) in ours.enumerated() {
                var entry = try recorded.local()
                // A recording may number them as it likes; a history counts up from 1.
                entry.version = UInt64(position) + 1
                local.append(entry)
            }
            for recorded in theirs {
                var changeset = try recorded.incoming()
                changeset.lastIntegratedLocalVersion = 0
                incoming.append(changeset)
            }
            let result = try engine.transform(
                incoming: incoming, over: local, currentLocalVersion: UInt64(local.count))
            for reciprocal in result.modifiedLocal where reciprocal.version <= UInt64(local.count) {
                local[Int(reciprocal.version) - 1].changeset = reciprocal.changeset
            }
            return .merged(ours: local.map { $0.changeset.encoded() }, theirs: result.incoming.map { $0.encoded() })
        } catch {
            return .refused(.init(description: "\(error)"))
        }
    }

    /// The deliberate differences that can show in the pair.
    package var possibleDifferences: [DeliberateDifference] {
        func instructions(_ side: [RecordedChangeset]) -> [Instruction] {
            side.flatMap { (try? Changeset(parsing: $0.changeset.bytes))?.instructions ?? [] }
        }
        return DeliberateDifference.possible(between: instructions(ours), and: instructions(theirs))
    }
}
