import Changesets
import Merge

/// A mistake put into the merge or into a recovery on purpose, to prove that the simulation notices it.
package enum EngineFault: String, CaseIterable, Sendable {
    /// The server does not store what becomes of its own entries.
    case forgetsReciprocals = "forgets-reciprocals"
    /// An entry that was merged away is stored as if it had not changed.
    case forgetsEmptyReciprocals = "forgets-empty-reciprocals"
    /// The server prefers the other one of two changes of the same time.
    case flipsTies = "flips-ties"
    /// A client applies what comes as it came.
    case appliesUntransformed = "applies-untransformed"
    /// The server leaves out the first entry that a client has not seen.
    case skipsAnEntry = "skips-an-entry"
    /// A recovery leaves out the last instruction of each changeset.
    case losesRecoveredChanges = "loses-recovered-changes"
    /// What was recovered is not kept for the next upload.
    case forgetsRecoveredHistory = "forgets-recovered-history"

    func before(
        _ local: [LocalChangeset], _ incoming: [IncomingChangeset], on side: SimulatedEngine.Side
    ) -> (local: [LocalChangeset], incoming: [IncomingChangeset]) {
        var local = local
        var incoming = incoming
        switch self {
        case .flipsTies where side == .server:
            for index in local.indices { local[index].originFileIdent = 1_000 - local[index].originFileIdent }
            for index in incoming.indices { incoming[index].originFileIdent = 1_000 - incoming[index].originFileIdent }
        case .skipsAnEntry where side == .server && local.count > 1: local.removeFirst()
        default: break
        }
        return (local, incoming)
    }

    func beforeReplay(_ changeset: Changeset) -> Changeset {
        guard self == .losesRecoveredChanges else { return changeset }
        return Changeset(strings: changeset.strings, instructions: changeset.instructions.dropLast())
    }

    func after(
        _ result: TransformResult, of incoming: [IncomingChangeset], on side: SimulatedEngine.Side
    ) -> TransformResult {
        var result = result
        switch self {
        case .forgetsReciprocals where side == .server: result.modifiedLocal = []
        case .forgetsEmptyReciprocals: result.modifiedLocal.removeAll { $0.changeset.isEmpty }
        case .appliesUntransformed where side == .client: result.incoming = incoming.map(\.changeset)
        default: break
        }
        return result
    }
}
