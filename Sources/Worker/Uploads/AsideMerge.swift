import Changesets
import Merge
import Storage
import SyncModel

/// A step of an upload's merge that takes longer than a slice waits for it.
struct AsideMerge: AsideTask {
    /// The upload that the step belongs to. By this the upload finds what became of the step when its turn comes again.
    struct Upload: Equatable, Sendable {
        var realm: RealmID
        var generation: UInt64
        var clientFile: FileIdent
        var recorded: ClientFileProgress
        var head: UploadHead
        /// The changesets that are merged.
        var entries: [UploadedChangeset]
        /// Objects of which the client never had what others did to them up to these versions, because it made or erased them itself
        /// then (docs/flexible.md, "Which writes count"): that takes no part in the merge.
        var own: [ObjectAddress: ServerVersion] = [:]
    }

    /// The outcome of the step.
    struct Merged: Sendable {
        var integration: UploadIntegration
        /// History merged over, and how much of it conflicted.
        var entries: Int
        var conflicts: Int
        /// The cost of merging the upload so far, and the part of it that this step has taken.
        var steps: UInt64
        var ownSteps: UInt64
        var duration: Duration
    }

    let upload: Upload
    /// The upload as merging has left it before this step.
    let integration: UploadIntegration
    let entries: [LocalChangeset]
    let end: ServerVersion
    /// The cost of the steps before, and the most that all may take.
    let taken: UInt64
    let limit: UInt64

    func run(isCancelled: @escaping () -> Bool) -> Result<Merged, MergeError> {
        Result { () throws(MergeError) in try merged(isCancelled) }
    }

    private func merged(_ isCancelled: @escaping () -> Bool) throws(MergeError) -> Merged {
        let start = ContinuousClock.now
        let meter = MergeMeter(limit: limit, taken: taken, isCancelled: isCancelled)
        var integration = integration
        let conflicts = try integration.merge(over: entries, through: end, using: MeteredMerge(meter: meter))
        return Merged(
            integration: integration, entries: entries.count, conflicts: conflicts, steps: meter.steps,
            ownSteps: meter.steps - taken, duration: start.duration(to: .now))
    }
}

/// The message in hand has to wait until a step of its merge is through that goes on beside the slice.
struct MergePause: Error {
    var merge: AsideMerge
    /// How many of the upload's changesets are integrated nevertheless: those before the step.
    var integrated = 0
}
