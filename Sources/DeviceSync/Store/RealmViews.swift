internal import Synchronization

/// The views of a realm's file, by the thread, queue, actor or task that they belong to.
final class RealmViews: Sendable {
    private struct Reference: Sendable {
        weak var view: RealmView?
    }
    private let views = Mutex<[Confinement.Place: Reference]>([:])

    /// The view of a place; one of its own for a caller without a place.
    func view(of core: RealmCore, at confinement: Confinement?) -> RealmView {
        guard let confinement else { return RealmView(core, nil) }
        let place = confinement.identity
        let known = known(place)
        // A task may get the number of one that is over and has left its realm to others: their transaction is not to be shared.
        if case .task(let task) = place, let known, known.isInTransaction, core.lock.isHeldByAnother(than: task) {
            return RealmView(core, nil)
        }
        if let known { return known }
        let new = RealmView(core, confinement)
        let first = views.withLock { views -> RealmView? in
            // Another caller may have been first.
            if let first = views[place]?.view { return first }
            views[place] = Reference(view: new)
            return nil
        }
        return first ?? new
    }

    /// The view that a place has, if any.
    func known(_ place: Confinement.Place) -> RealmView? { views.withLock { $0[place]?.view } }

    /// Forgets a view that is going away.
    func remove(_ view: RealmView) {
        guard let place = view.confinement?.identity else { return }
        views.withLock { views in
            // A weak reference is nil by now; another view may have taken the place.
            if let reference = views[place], reference.view == nil { views[place] = nil }
        }
    }

    /// Tells the views of a new version.
    /// - Parameter writer: the view that has made it, which knows.
    func hear(of newest: RealmSnapshot, except writer: RealmView?) {
        // Outside of the lock: whoever lets go of a view last removes it.
        let all = views.withLock { $0.values.compactMap(\.view) }
        for view in all where view !== writer { view.hear(of: newest) }
    }
}
