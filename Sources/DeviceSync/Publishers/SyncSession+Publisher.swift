internal import Synchronization

#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if (canImport(Combine) || OpenCombine) && !canImport(ObjectiveC)
extension SyncSession {
    /// A publisher of a property's value now and after each change, on the callback queue. Only `\.connectionState` changes in a way that can be observed;
    /// `connectionStates` has the same as an `AsyncStream`.
    public func publisher<V: Sendable>(
        for keyPath: KeyPath<SyncSession, V>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> AnyPublisher<V, Never> {
        precondition(
            (keyPath as AnyKeyPath) == (\SyncSession.connectionState as AnyKeyPath),
            "only connectionState of a sync session can be observed")
        let isInitial = options.contains(.initial)
        return AnyPublisher(
            RealmPublishers.Observation(endless: { _, receive in
                // The precondition says that V is ConnectionState, which only the runtime knows.
                @Sendable func send(_ state: ConnectionState) { if let value = state as? V { receive(value) } }
                let last = Mutex(self.connectionState)
                if isInitial { send(last.withLock { $0 }) }
                @Sendable func changed(to state: ConnectionState) { if last.exchange(state) != state { send(state) } }
                let token = self.observeConnectionState(changed)
                // What changed before the observation began.
                changed(to: self.connectionState)
                return token
            }))
    }
}
#endif
