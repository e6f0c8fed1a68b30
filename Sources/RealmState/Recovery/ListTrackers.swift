import Changesets

/// The trackers of all lists that a replay has touched, by object, since what happens to an object concerns only its own.
struct ListTrackers {
    private var trackers: [ObjectAddress: [ListPath: ListTracker]] = [:]
    /// Lists that could not be followed in the changeset at hand.
    private var lost: Set<ListPath> = []

    /// Lets a list's tracker follow an operation.
    mutating func track<Result>(_ path: ListPath, _ operation: (inout ListTracker) -> Result) -> Result {
        let result = operation(&trackers[path.object, default: [:]][path, default: ListTracker()])
        if trackers[path.object]?[path]?.needsCopy == true { lost.insert(path) }
        return result
    }

    /// Forgets the lists of an object that is gone.
    mutating func forget(_ object: ObjectAddress) { trackers[object] = nil }

    /// Forgets the lists at a place and below it: what stood there is gone.
    mutating func forget(below place: ListPath) {
        guard let tracked = trackers[place.object], !tracked.isEmpty else { return }
        trackers[place.object] = tracked.filter { !$0.key.isBelow(place.object, place.field, place.keys) }
    }

    /// The lists to be copied at the end of a changeset, each handed out once, in order.
    ///
    /// One that cannot be copied then stays as the server has it.
    mutating func takeLost() -> [ListPath] {
        guard !lost.isEmpty else { return [] }
        defer { lost.removeAll() }
        return lost.filter { trackers[$0.object]?[$0]?.needsCopy == true }.sorted()
    }

    mutating func copied(_ path: ListPath) { trackers[path.object]?[path]?.copied() }
}
