import Merge
import SyncModel

/// The merges of a slice that take so long that they go on beside it: one at a time. The realm concerned waits for it with all of
/// its messages, and other realms whose uploads take as long wait in a line; everybody else goes on.
struct SliceAsides {
    /// A realm whose first waiting messages are an upload that takes long, and how many messages that upload came in.
    private struct Waiting {
        var realm: RealmName
        var messages: Int
    }

    private let pool: MergePool
    private var current: (waiting: Waiting, upload: AsideMerge.Upload, merge: RunningMerge)?
    /// The realms whose merges come next, in the order in which they came.
    private var line: [Waiting] = []
    /// The app whose merge went on last: another app's comes next, if one waits.
    private var lastApp: String?
    /// Kept for the rest of a merge that was taken up in this turn: what is merged of it must not be lost.
    private var kept: (waiting: Waiting, place: MergePool.Place)?

    init(_ pool: MergePool) { self.pool = pool }

    /// Begins a turn: forgets realms that nothing is waiting for any more.
    mutating func beginTurn(waiting: Set<RealmName>) {
        line.removeAll { !waiting.contains($0.realm) }
        if let current, !waiting.contains(current.waiting.realm) { self.current = nil }
    }

    /// What was merged is taken up, or is to be merged again.
    mutating func endTurn() { kept = nil }

    /// Whether the realm's messages have to wait for its merge or for its place in the line.
    func isBusy(_ realm: RealmName) -> Bool {
        if let current, current.waiting.realm == realm { return current.merge.result == nil }
        guard line.contains(where: { $0.realm == realm }) else { return false }
        return current != nil || !pool.hasRoom || next?.realm != realm
    }

    /// How many messages make up the upload that the realm waits with; nil if it waits with none.
    func messages(of realm: RealmName) -> Int? {
        if let current, current.waiting.realm == realm { return current.waiting.messages }
        return line.first { $0.realm == realm }?.messages
    }

    /// What became of an upload's merge; nil if none has gone on.
    mutating func take(_ upload: AsideMerge.Upload) -> Result<AsideMerge.Merged, MergeError>? {
        guard let current, current.upload.realm == upload.realm, let result = current.merge.result else { return nil }
        self.current = nil
        guard current.upload == upload else { return nil }
        kept = (current.waiting, current.merge.place)
        return result
    }

    /// Has a merge go on beside the slice, or its realm wait in the line.
    ///
    /// - Parameter messages: how many messages the upload came in.
    mutating func pause(_ realm: RealmName, messages: Int, for merge: AsideMerge) {
        let waiting = Waiting(realm: realm, messages: messages)
        let isKept = kept?.waiting.realm == realm
        if isKept || current == nil && (next == nil || next?.realm == realm),
            let place = isKept ? kept?.place : pool.place()
        {
            line.removeAll { $0.realm == realm }
            lastApp = realm.app
            current = (waiting, merge.upload, RunningMerge(merge, in: place))
        } else {
            line.put(waiting) { $0.realm == realm }
        }
        if isKept { kept = nil }
    }

    private var next: Waiting? { line.first { $0.realm.app != lastApp } ?? line.first }
}
