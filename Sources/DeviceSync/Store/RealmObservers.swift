internal import RealmState
internal import Synchronization

/// The observers of a realm's commits.
///
/// An observer that is behind hears of several commits at once: what waits for it is one state and the set of objects
/// that changed on the way there, however many commits that were. Only commits that leave it out come between.
final class RealmObservers: Sendable {
    /// - Parameter isSilent: whether the observer is not to be called: it made the changes itself, and only has to know of them.
    typealias Deliver = @Sendable (_ snapshot: RealmSnapshot, _ changed: ChangedObjects, _ isSilent: Bool) -> Void

    /// A state that an observer is to be told of, and what changed on the way there.
    private struct Delivery: Sendable {
        var snapshot: RealmSnapshot
        var changed: ChangedObjects
        var isSilent: Bool
    }

    private struct Observer: Sendable {
        var place: DeliveryPlace
        var deliver: Deliver
        /// What the place sees, which goes on together with what the observer is told; nil if nothing stands still there.
        var view: RealmView?
        /// Whether the observer hears of nothing that the view does not show.
        var waits: Bool
        /// Whether it has to hear of what there is before it hears of changes.
        var isNew: Bool
        /// Whether there is something to tell that has to wait for the view.
        var isHeld = false
        /// The token of the observation, by which a writer may leave the observer out.
        var token: ObjectIdentifier?
        /// The changes after everything that was delivered or is on the queue; at first, anything may have changed.
        var unseen = ChangedObjects.everything
        /// What is on the queue: several deliveries where silent ones come between others.
        var pending: [Delivery] = []

        /// The number of deliveries beyond which silent changes are told of after all.
        private static let maxPending = 8

        /// - Returns: whether nothing was on its queue.
        mutating func hear(of snapshot: RealmSnapshot, isSilent: Bool = false) -> Bool {
            defer { unseen = ChangedObjects() }
            guard var last = pending.last, last.isSilent == isSilent || isNew || pending.count == Self.maxPending else {
                pending.append(Delivery(snapshot: snapshot, changed: unseen, isSilent: isSilent))
                return pending.count == 1
            }
            last.changed.add(unseen)
            if last.snapshot.version < snapshot.version { last.snapshot = snapshot }
            last.isSilent = last.isSilent && isSilent
            pending[pending.count - 1] = last
            return false
        }
    }

    private struct Contents {
        var observers: [UInt64: Observer] = [:]
        var next: UInt64 = 0
    }
    private let contents = Mutex(Contents())

    /// Registers an observer, which first hears of `initial` if there is one.
    ///
    /// Deliveries to one observer come in order; a queue must be serial for that, as the main queue is.
    /// - Parameters:
    ///   - instance: what the observer uses at the place.
    ///   - waits: whether the observer hears of nothing that the instance does not show.
    func add(
        on place: DeliveryPlace, for instance: RealmInstance, waits: Bool = true, initial: (() -> RealmSnapshot)? = nil,
        _ deliver: @escaping Deliver
    ) -> NotificationToken {
        let view = instance.view.flatMap { $0.standsStill ? $0 : nil }
        let number = contents.withLock { contents -> UInt64 in
            contents.next += 1
            contents.observers[contents.next] = Observer(
                place: place, deliver: deliver, view: view, waits: waits, isNew: initial != nil)
            return contents.next
        }
        // Read after it was registered, so that no commit falls between the two.
        if let initial { enqueue(initial(), number) }
        let token = NotificationToken { [weak self] in self?.remove(number) }
        contents.withLock { $0.observers[number]?.token = ObjectIdentifier(token) }
        return token
    }

    private func remove(_ number: UInt64) { contents.withLock { $0.observers[number] = nil } }

    func notify(_ snapshot: RealmSnapshot, _ changes: StateChanges, except tokens: Set<ObjectIdentifier>) {
        // In one step: a delivery in between would take the changes along with the snapshot before them.
        let idle = contents.withLock { contents -> [UInt64: DeliveryPlace] in
            guard !contents.observers.isEmpty else { return [:] }
            var changed = ChangedObjects()
            changed.add(changes)
            var idle: [UInt64: DeliveryPlace] = [:]
            for number in Array(contents.observers.keys) {
                contents.observers[number]?.unseen.add(changed)
                let isExcluded = contents.observers[number]?.token.map(tokens.contains) ?? false
                guard contents.observers[number]?.hear(of: snapshot, isSilent: isExcluded) == true else { continue }
                idle[number] = contents.observers[number]?.place
            }
            return idle
        }
        for (number, place) in idle { place.async { [weak self] in self?.deliver(number) } }
    }

    private func enqueue(_ snapshot: RealmSnapshot, _ number: UInt64) {
        let place = contents.withLock { contents -> DeliveryPlace? in
            contents.observers[number]?.hear(of: snapshot) == true ? contents.observers[number]?.place : nil
        }
        place?.async { [weak self] in self?.deliver(number) }
    }

    /// Tells the observers of a view what they have not heard of yet; at the view's place. One that is new hears of what there is.
    func catchUp(_ view: RealmView) {
        let due = contents.withLock { contents -> [UInt64] in
            guard !contents.observers.isEmpty else { return [] }
            return contents.observers.filter { _, observer in
                guard observer.view === view, !observer.pending.isEmpty else { return false }
                if case .reader = observer.place { return false }
                return true
            }.keys.sorted()
        }
        for number in due { deliver(number, isForced: true) }
    }

    /// Tells the observers of the realm itself, at the place of a view that has committed, of the commit.
    func committed(by view: RealmView, _ newest: RealmSnapshot, except tokens: Set<ObjectIdentifier>) {
        let due = contents.withLock { contents -> [(Deliver, ChangedObjects)] in
            guard !contents.observers.isEmpty else { return [] }
            let numbers = contents.observers.filter { _, observer in
                !observer.waits && observer.view === view && !(observer.token.map(tokens.contains) ?? false)
            }.keys.sorted()
            return numbers.compactMap { number in
                guard let observer = contents.observers[number] else { return nil }
                contents.observers[number]?.pending = []
                var changed = ChangedObjects()
                for delivery in observer.pending { changed.add(delivery.changed) }
                return (observer.deliver, changed)
            }
        }
        for (deliver, changed) in due { deliver(newest, changed, false) }
    }

    /// Lets the observers of a view hear on their queues of what had to wait for it.
    func resume(_ view: RealmView) {
        let due = contents.withLock { contents -> [(UInt64, DeliveryPlace)] in
            guard !contents.observers.isEmpty else { return [] }
            let held = contents.observers.filter { $0.value.isHeld && $0.value.view === view }
            for number in held.keys { contents.observers[number]?.isHeld = false }
            return held.map { ($0.key, $0.value.place) }.sorted { $0.0 < $1.0 }
        }
        for (number, place) in due { place.async { [weak self] in self?.deliver(number) } }
    }

    private func deliver(_ number: UInt64, isForced: Bool = false) {
        // Held until the view has gone on: whoever moves the view meanwhile sees that somebody waits for that.
        let observer = contents.withLock { contents -> Observer? in
            guard let observer = contents.observers[number], !observer.pending.isEmpty else { return nil }
            if observer.view != nil, observer.waits { contents.observers[number]?.isHeld = true }
            return observer
        }
        guard let observer, let snapshot = observer.pending.last?.snapshot else { return }
        if let view = observer.view, !view.advance(to: snapshot, isForced: isForced), observer.waits { return }
        // Looked up only now: the token may have been invalidated meanwhile.
        let pending = contents.withLock { contents -> [Delivery] in
            guard let pending = contents.observers[number]?.pending, !pending.isEmpty else { return [] }
            contents.observers[number]?.pending = []
            contents.observers[number]?.isNew = false
            contents.observers[number]?.isHeld = false
            return pending
        }
        // A commit in between is told of as well.
        if let newest = pending.last?.snapshot, newest.version > snapshot.version {
            _ = observer.view?.advance(to: newest, isForced: isForced)
        }
        for delivery in pending { observer.deliver(delivery.snapshot, delivery.changed, delivery.isSilent) }
    }
}
