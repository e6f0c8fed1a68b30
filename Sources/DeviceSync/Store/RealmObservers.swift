internal import RealmState
internal import Synchronization

/// The observers of a realm's commits.
///
/// An observer that is behind hears of several commits at once: what waits for it is one state and the set of objects
/// that changed on the way there, however many commits that were.
final class RealmObservers: Sendable {
    typealias Deliver = @Sendable (RealmSnapshot, ChangedObjects) -> Void

    private struct Observer: Sendable {
        var place: DeliveryPlace
        var deliver: Deliver
        /// The token of the observation, by which a writer may leave the observer out.
        var token: ObjectIdentifier?
        /// The changes after everything that was delivered or is on the queue; at first, anything may have changed.
        var unseen = ChangedObjects.everything
        /// The delivery on the queue: a snapshot, and the changes on the way to it.
        var pending: (snapshot: RealmSnapshot, changed: ChangedObjects)?

        /// - Returns: whether nothing was on its queue.
        mutating func hear(of snapshot: RealmSnapshot) -> Bool {
            defer { unseen = ChangedObjects() }
            guard let version = pending?.snapshot.version else {
                pending = (snapshot: snapshot, changed: unseen)
                return true
            }
            pending?.changed.add(unseen)
            if version < snapshot.version { pending?.snapshot = snapshot }
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
    func add(
        on place: DeliveryPlace, initial: (() -> RealmSnapshot)? = nil, _ deliver: @escaping Deliver
    ) -> NotificationToken {
        let number = contents.withLock { contents -> UInt64 in
            contents.next += 1
            contents.observers[contents.next] = Observer(place: place, deliver: deliver)
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
                guard !isExcluded, contents.observers[number]?.hear(of: snapshot) == true else { continue }
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

    private func deliver(_ number: UInt64) {
        // Looked up only now: the token may have been invalidated meanwhile.
        let delivery = contents.withLock { contents -> (Deliver, RealmSnapshot, ChangedObjects)? in
            guard let observer = contents.observers[number], let pending = observer.pending else { return nil }
            contents.observers[number]?.pending = nil
            return (observer.deliver, pending.snapshot, pending.changed)
        }
        if let (deliver, snapshot, changed) = delivery { deliver(snapshot, changed) }
    }
}
