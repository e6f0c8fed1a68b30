import Changesets
import SyncModel
import Views

/// What is merged of an upload's changesets with the history before it, all of them at once. Pure.
///
/// Of each object that is as much of what was done to it as may count, whatever the roles will say of it: what is merged and does not count takes
/// nothing from what does, since objects are merged each by itself, and does the client no harm, since its copy of the object is put right. How
/// the merge ends decides whether the client has erased an object that others have made anew; but then its erasure leaves
/// nothing of theirs to merge with.
struct UploadPlan {
    /// The objects whose instructions are merged, by changeset.
    private(set) var merged: [Set<ObjectAddress>] = []
    /// Objects that the client has made or erased itself since its base, with the version.
    private(set) var own: [ObjectAddress: ServerVersion] = [:]

    init(
        _ trials: [WriteTrial], _ pasts: [ObjectAddress: ObjectPast], _ putRight: PutRight, _ repeated: RepeatedWrites
    ) {
        // Nothing that is done to these later meets what was before.
        var left: Set<ObjectAddress> = []
        for trial in trials {
            var merged: Set<ObjectAddress> = []
            for address in trial.judged where !left.contains(address) {
                let past = pasts[address]
                guard let judgement = trial.judgement(of: address, past, putRight, repeated) else { continue }
                switch judgement {
                case .ingest, .isGone: continue
                case .verdict(.merge):
                    merged.insert(address)
                    if let version = past?.ownSince(trial.base) { own[address] = version }
                case .verdict(.insert): if trial.leavesNew(address) { left.insert(address) }
                case .repeated, .recovered, .denied, .verdict(.giveWay), .verdict(.refuse): left.insert(address)
                }
            }
            self.merged.append(merged)
        }
    }

    /// What is merged of one changeset, with all that changes the schema.
    func selection(of changeset: Changeset, _ index: Int) throws -> ChangesetSelection {
        var selection = ChangesetSelection()
        do {
            try selection.append(changeset) { address, _ in address.map { merged[index].contains($0) } ?? true }
        } catch {
            throw BadChangesetError(reason: "\(error)")
        }
        return selection
    }
}
