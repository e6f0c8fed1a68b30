internal import Dispatch
internal import Synchronization

/// Who wants to hear of a realm's commits.
final class RealmObservers: Sendable {
    private struct Observer: Sendable {
        var queue: DispatchQueue
        var deliver: @Sendable (RealmSnapshot) -> Void
    }

    /// Which tokens belong to which observers: a writer may leave out its own.
    private struct Contents {
        var observers: [UInt64: Observer] = [:]
        var tokens: [ObjectIdentifier: UInt64] = [:]
        var next: UInt64 = 0
    }
    private let contents = Mutex(Contents())

    /// Registers an observer, which first hears of `initial` if there is one.
    ///
    /// Deliveries to one observer come in order; its queue must be serial for that, as the main queue is.
    func add(
        on queue: DispatchQueue, initial: RealmSnapshot?, _ deliver: @escaping @Sendable (RealmSnapshot) -> Void
    ) -> NotificationToken {
        let number = contents.withLock { contents -> UInt64 in
            contents.next += 1
            contents.observers[contents.next] = Observer(queue: queue, deliver: deliver)
            return contents.next
        }
        if let initial { enqueue(initial, number) }
        let token = NotificationToken { [weak self] in self?.remove(number) }
        contents.withLock { $0.tokens[ObjectIdentifier(token)] = number }
        return token
    }

    private func remove(_ number: UInt64) {
        contents.withLock { contents in
            contents.observers[number] = nil
            contents.tokens = contents.tokens.filter { $0.value != number }
        }
    }

    func notify(from old: RealmSnapshot, to new: RealmSnapshot, except tokens: Set<ObjectIdentifier>) {
        guard old.version != new.version else { return }
        let numbers = contents.withLock { contents in
            let excluded = Set(tokens.compactMap { contents.tokens[$0] })
            return contents.observers.keys.filter { !excluded.contains($0) }
        }
        for number in numbers { enqueue(new, number) }
    }

    private func enqueue(_ snapshot: RealmSnapshot, _ number: UInt64) {
        guard let queue = contents.withLock({ $0.observers[number]?.queue }) else { return }
        queue.async { [weak self] in
            // Looked up again: the token may have been invalidated meanwhile.
            self?.contents.withLock { $0.observers[number]?.deliver }?(snapshot)
        }
    }
}
