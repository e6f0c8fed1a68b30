#if !canImport(ObjectiveC)
internal import Synchronization

/// The options of an observer of a property: the part of Foundation's type that makes sense without Objective-C.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after each change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before each change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// A call at once, before `observe` returns.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// A call before each change, too.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The value after it, if that was asked for.
    public let newValue: Value?
    /// The value before it, if that was asked for.
    public let oldValue: Value?
    /// Whether the change is still to come.
    public let isPrior: Bool
}

/// Keeps the observation of a property alive.
public final class NSKeyValueObservation: Sendable {
    private let token: NotificationToken

    init(_ token: NotificationToken) { self.token = token }

    /// Ends the observation, as releasing this does.
    public func invalidate() { token.invalidate() }
}

extension SyncSession {
    /// Calls `changeHandler` with each change of a property, on the callback queue. Only `\.connectionState` changes
    /// in a way that can be observed.
    public func observe<V>(
        _ keyPath: KeyPath<SyncSession, V>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (SyncSession, NSKeyValueObservedChange<V>) -> Void
    ) -> NSKeyValueObservation {
        precondition(
            (keyPath as AnyKeyPath) == (\SyncSession.connectionState as AnyKeyPath),
            "only connectionState of a sync session can be observed")
        // The precondition says that V is ConnectionState, which only the runtime knows.
        @Sendable func change(
            _ new: ConnectionState?, _ old: ConnectionState?, isPrior: Bool = false
        ) -> NSKeyValueObservedChange<V> {
            NSKeyValueObservedChange(newValue: new as? V, oldValue: old as? V, isPrior: isPrior)
        }
        let last = Mutex(connectionState)
        if options.contains(.initial) {
            changeHandler(self, change(options.contains(.new) ? connectionState : nil, nil))
        }
        let token = observeConnectionState { [weak self] state in
            let previous = last.withLock { last -> ConnectionState in
                defer { last = state }
                return last
            }
            guard let self, previous != state else { return }
            let old = options.contains(.old) ? previous : nil
            if options.contains(.prior) { changeHandler(self, change(nil, old, isPrior: true)) }
            changeHandler(self, change(options.contains(.new) ? state : nil, old))
        }
        return NSKeyValueObservation(token)
    }
}
#endif
