#if !canImport(Combine)
internal import Synchronization

/// Keeps a subscription to a publisher alive: it ends when this is cancelled or released.
public final class AnyCancellable: Sendable, Hashable {
    private let end: Mutex<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    /// Ends the subscription.
    public func cancel() { end.withLock { $0.take() }?() }

    deinit { cancel() }

    /// Whether both are the same.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }
    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Keeps this for as long as the set.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }
}

/// The values of an observed property, as a publisher: the part of Combine's that `sink` is. It has the values as an `AsyncStream`, too.
public struct KeyValuePublisher<Output: Sendable>: Sendable {
    private let subscribe: @Sendable (@escaping @Sendable (Output) -> Void) -> AnyCancellable

    init(_ subscribe: @escaping @Sendable (@escaping @Sendable (Output) -> Void) -> AnyCancellable) {
        self.subscribe = subscribe
    }

    /// Calls `receiveValue` with each value, for as long as what it returns is kept.
    public func sink(receiveValue: @escaping @Sendable (Output) -> Void) -> AnyCancellable { subscribe(receiveValue) }

    /// The values as a sequence, which keeps the newest one only for a reader that is slow.
    public var values: AsyncStream<Output> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let subscription = subscribe { continuation.yield($0) }
            continuation.onTermination = { _ in subscription.cancel() }
        }
    }
}

extension SyncSession {
    /// A publisher of a property's value now and after each change, on the callback queue. Only `\.connectionState` changes in a way that can be observed.
    public func publisher<V: Sendable>(
        for keyPath: KeyPath<SyncSession, V>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> KeyValuePublisher<V> {
        precondition(
            (keyPath as AnyKeyPath) == (\SyncSession.connectionState as AnyKeyPath),
            "only connectionState of a sync session can be observed")
        let isInitial = options.contains(.initial)
        return KeyValuePublisher { receive in
            // The precondition says that V is ConnectionState, which only the runtime knows.
            @Sendable func send(_ state: ConnectionState) { if let value = state as? V { receive(value) } }
            let last = Mutex(self.connectionState)
            if isInitial { send(last.withLock { $0 }) }
            @Sendable func changed(to state: ConnectionState) {
                let isNew = last.withLock { last in
                    defer { last = state }
                    return last != state
                }
                if isNew { send(state) }
            }
            let token = self.observeConnectionState(changed)
            // What changed before the observation began.
            changed(to: self.connectionState)
            return AnyCancellable { token.invalidate() }
        }
    }
}
#endif
