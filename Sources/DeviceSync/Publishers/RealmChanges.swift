internal import Synchronization

/// The reports of an observation as a sequence: the twin of a publisher. (Not upstream.)
///
/// Nothing is lost for a reader that is slow: what happens in between comes as one change. The observation begins with the iterator, and ends with it.
public struct RealmChanges<Element>: AsyncSequence {
    /// There are no errors.
    public typealias Failure = Never

    private let observe: (DeliveryPlace, @escaping @Sendable (Element) -> Void) -> NotificationToken

    init(_ observe: @escaping (DeliveryPlace, @escaping @Sendable (Element) -> Void) -> NotificationToken) {
        self.observe = observe
    }

    /// Begins the observation. Make and use the iterator where the realm belongs.
    public func makeAsyncIterator() -> Iterator {
        let (turns, found) = (Turns(), Found<Element>())
        return Iterator(turns: turns, found: found, token: observe(.reader(turns)) { found.element = $0 })
    }

    /// Reads an observation.
    public struct Iterator: AsyncIteratorProtocol {
        let turns: Turns
        let found: Found<Element>
        let token: NotificationToken

        /// The next change; nil if the task was cancelled.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while let turn = await turns.next() {
                turn()
                if let element = found.take() { return element }
            }
            return nil
        }
    }
}

/// What a turn of an observation has reported.
///
/// Unchecked: a reader fills it by running the turn, and takes the element out before it does anything else.
final class Found<Element>: @unchecked Sendable {
    var element: Element?

    func take() -> Element? {
        defer { element = nil }
        return element
    }
}

/// The turns of one observer that runs when it is read. An observer has at most one turn to come: what happens before it becomes a part of it.
final class Turns: Sendable {
    typealias Turn = @Sendable () -> Void

    private struct Contents {
        var turn: Turn?
        var reader: CheckedContinuation<Turn?, Never>?
        var isCancelled = false
    }
    private let contents = Mutex(Contents())

    func add(_ turn: @escaping Turn) {
        let reader = contents.withLock { contents in
            if contents.reader == nil { contents.turn = turn }
            return contents.reader.take()
        }
        reader?.resume(returning: turn)
    }

    /// The next turn, once there is one; nil if the task is cancelled. For one reader.
    func next() async -> Turn? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = contents.withLock { contents -> Turn?? in
                    if contents.isCancelled { return .some(nil) }
                    if let turn = contents.turn.take() { return turn }
                    contents.reader = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            contents.withLock { contents in
                contents.isCancelled = true
                return contents.reader.take()
            }?.resume(returning: nil)
        }
    }
}

extension Results {
    /// The collection, and then what each commit changes in it; see `observe(keyPaths:on:_:)` for the key paths.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<RealmCollectionChange<Results<Element>>> {
        RealmChanges { place, report in observe(keyPaths, at: place, report) }
    }
}

extension _ObservableObject {
    /// The changes of the object, one for each commit; see `observe(keyPaths:on:_:)` for the key paths. An unmanaged object traps.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<ObjectChange<Self>> {
        RealmChanges { place, report in self.observe(keyPaths, at: place, report) }
    }
}

extension RealmCollection where Self: _PropertyCollection {
    /// The collection, and then what each commit changes in it. An unmanaged one traps.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<RealmCollectionChange<Self>> {
        RealmChanges { place, report in self.observe(keyPaths, at: place, report) }
    }
}
