import Changesets
import RealmState
import SyncModel

/// Applies changesets to a realm whose objects are read as they are needed.
struct ChangesetApplication: SlicePart {
    let work: SliceWork

    /// Applies changesets in order.
    ///
    /// - Returns: each as stock clients can apply it, and what it leaves.
    /// - Parameters:
    ///   - refusingMisfits: whether what stock clients cannot apply is refused.
    ///   - admit: throws if the schema may not change as it has.
    /// - Throws: `BadChangesetError`.
    func apply(
        _ changesets: [Changeset], to context: RealmContext, refusingMisfits: Bool = true,
        admitting admit: (SchemaChange) async throws -> Void
    ) async throws -> [(changeset: Changeset, applied: AppliedChangeset)] {
        let before = context.state.schema
        var applied: [(changeset: Changeset, applied: AppliedChangeset)] = []
        try await work.load(changesets, into: context)
        // Objects of a class that the changesets make are known not to exist elsewhere.
        for changeset in changesets {
            let changeset = context.state.applicable(changeset)
            applied.append((changeset, try work.apply(changeset, to: context)))
        }
        if refusingMisfits {
            for changeset in changesets {
                guard let misfit = changeset.misfits(in: context.state.schema, before).first else { continue }
                throw BadChangesetError(misfit: misfit)
            }
        }
        if changesets.contains(where: \.declaresSchema) {
            try await admit(SchemaChange(from: before, to: context.state.schema))
        }
        return applied
    }
}
