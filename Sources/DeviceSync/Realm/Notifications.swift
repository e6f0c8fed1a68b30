internal import Changesets
public import Dispatch
internal import RealmState
internal import Synchronization

/// Keeps an observation alive: it ends when this is invalidated or released.
public class NotificationToken: @unchecked Sendable {
    // Unchecked only because the class is open to subclassing in this module; its state is one mutex.
    private let end: Mutex<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    /// The token of an observation that never began.
    private init() { end = Mutex(nil) }

    /// Begins an observation on an actor, unless the task that asks for it is cancelled.
    static func unlessCancelled(_ observe: () -> NotificationToken) -> NotificationToken {
        Task.isCancelled ? NotificationToken() : observe()
    }

    /// Ends the observation.
    /// - Returns: false if it had ended already.
    @discardableResult
    public func invalidate() -> Bool {
        guard let end = end.withLock({ $0.take() }) else { return false }
        end()
        return true
    }

    deinit { invalidate() }
}

/// A change of an observed collection.
@frozen public enum RealmCollectionChange<CollectionType> {
    /// The first notification: the collection as it is.
    case initial(CollectionType)
    /// A change. Deletions are positions in the old collection, insertions and modifications in the new one.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Observing failed.
    case error(any Error)
}

extension RealmCollectionChange: Sendable where CollectionType: Sendable {}

extension RealmCollectionChange {
    /// The same change, of what shows the collection otherwise.
    func map<Other>(_ transform: (CollectionType) -> Other) -> RealmCollectionChange<Other> {
        switch self {
        case .initial(let collection): .initial(transform(collection))
        case .update(let collection, let deletions, let insertions, let modifications):
            .update(
                transform(collection), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error(let error): .error(error)
        }
    }

    /// The same change of what is found by the collection; nil if that is gone.
    func compactMap<Other>(_ find: (CollectionType) -> Other?) -> RealmCollectionChange<Other>? {
        switch self {
        case .initial(let collection), .update(let collection, _, _, _):
            find(collection).map { found in map { _ in found } }
        case .error(let error): .error(error)
        }
    }

    /// - Parameter positions: how the collection differs from what was reported before; nil the first time.
    init(_ collection: CollectionType, _ positions: PositionDifference?) {
        guard let positions else {
            self = .initial(collection)
            return
        }
        self = .update(
            collection, deletions: positions.deletions, insertions: positions.insertions,
            modifications: positions.modifications)
    }
}

/// A property that changed.
///
/// Unchecked: the values of an object's own properties can go anywhere. What a projection shows belongs where its notifications come.
public struct PropertyChange: @unchecked Sendable {
    /// The name.
    public let name: String
    /// The value before, for scalars and links; nil for null and collections.
    public let oldValue: Any?
    /// The value after, for scalars and links; nil for null and collections.
    public let newValue: Any?
}

/// A change of an observed object.
@frozen public enum ObjectChange<T> {
    /// Observing failed.
    case error(any Error)
    /// Some properties changed.
    case change(T, [PropertyChange])
    /// The object was deleted.
    case deleted
}

extension ObjectChange: Sendable where T: Sendable {}

extension ObjectChange {
    /// The same change, of what shows the object otherwise.
    func map<Other>(_ transform: (T) -> Other) -> ObjectChange<Other> {
        switch self {
        case .error(let error): .error(error)
        case .change(let object, let properties): .change(transform(object), properties)
        case .deleted: .deleted
        }
    }

    /// The same change of what is found by the object; nil if that is gone.
    func compactMap<Other>(_ find: (T) -> Other?) -> ObjectChange<Other>? {
        switch self {
        case .error(let error): .error(error)
        case .change(let object, let properties): find(object).map { .change($0, properties) }
        case .deleted: .deleted
        }
    }
}

/// Takes what happened to an observed realm: see `Realm.observe(on:_:)`.
public typealias NotificationBlock = @Sendable (_ notification: Realm.Notification, _ realm: Realm) -> Void

extension Realm {
    /// A change of an observed realm.
    @frozen public enum Notification: String, Sendable {
        /// Something was committed.
        case didChange = "RLMRealmDidChangeNotification"
        /// Something was committed, and the realm does not refresh by itself.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }

    /// Calls `block` after each commit, on the queue given or else where the realm belongs: on its queue, on its actor, or on the main queue if neither.
    @preconcurrency
    public func observe(
        on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (_ notification: Notification, _ realm: Realm) -> Void
    ) -> NotificationToken {
        precondition(!isFrozen, "a frozen realm does not change")
        instance.checkThread()
        let place = instance.deliveryPlace(queue)
        let (original, realm) = (self, Realm(instance: instance.delivered(at: place)))
        return instance.core.observers.add(on: place, for: realm.instance, waits: false) { _, _, isSilent in
            guard !isSilent else { return }
            block(original.instance.autorefresh ? .didChange : .refreshRequired, realm)
        }
    }
}

extension Results {
    /// Calls `block` with the collection now and after each commit that changes it, on the queue given or else where the realm belongs: on its queue, on its actor, or
    /// on the main queue if neither.
    /// - Parameter keyPaths: the properties, of the objects or of what they link to as in `owner.name`, whose changes count as modifications; nil for all, of the
    ///   objects themselves and of those that up to three links lead to.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: instance.deliveryPlace(queue), block)
    }

    /// Calls `block` on an actor with the collection now and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Results<Element>>) -> Void
    ) async -> NotificationToken {
        .unlessCancelled {
            observe(keyPaths, at: .actor(actor)) { change in actor.assumeIsolated { block($0, change) } }
        }
    }

    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        precondition(!isFrozen, "a frozen collection does not change")
        if let held { return observe(held, at: place, block) }
        let observed = ObservedProperties(keyPaths, className, in: instance)
        let (instance, className, query) = (instance, className, query)
        let live = instance.delivered(at: place)
        let core = instance.core
        let last = Mutex<(state: RealmState, keys: [ObjectKey])?>(nil)
        return core.observers.add(on: place, for: live, initial: { core.snapshot }) { snapshot, changed, isSilent in
            let state = snapshot.state
            // Filters have to see the state that is reported on.
            func keys() -> [ObjectKey] { ResultsQuery.keys(className, query, live.at(snapshot)) }
            guard let previous = last.withLock({ $0 }) else {
                let keys = keys()
                last.withLock { $0 = (state, keys) }
                return block(.initial(showing(keys, snapshot, live)))
            }
            let modified = ModifiedObjects(observed, className, changed, from: previous.state, to: state)
            let change: CollectionDifference
            if query == nil, observed.isAll, let others = modified.others {
                change = CollectionDifference(
                    className, from: previous.state, to: state, changed: changed.keys(of: className, in: state.schema),
                    others: others, keys: previous.keys)
            } else {
                change = CollectionDifference(keys: previous.keys, newKeys: keys()) { key in
                    modified.contains(ObjectAddress(className, key))
                }
            }
            last.withLock { $0 = (state, change.keys) }
            guard !isSilent, !change.positions.isEmpty else { return }
            block(RealmCollectionChange(showing(change.keys, snapshot, live), change.positions))
        }
    }

    /// Likewise for what is no objects of a class of their own: differences are those of the values.
    private func observe(
        _ held: HeldValues, at place: DeliveryPlace,
        _ block: @escaping @Sendable (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        let (className, query, live) = (className, query, instance.delivered(at: place))
        let core = instance.core
        let last = Mutex<[RealmValue]?>(nil)
        return core.observers.add(on: place, for: live, initial: { core.snapshot }) { snapshot, _, isSilent in
            let keys = ResultsQuery.keys(className, query, live.at(snapshot))
            let values = keys.map { held.item(at: $0, snapshot.state)?.value ?? .null }
            let previous = last.exchange(values)
            let shown = showing(keys, snapshot, live)
            guard let previous else { return block(.initial(shown)) }
            let difference = PositionDifference(from: previous, to: values) { _ in false }
            if !isSilent, !difference.isEmpty { block(RealmCollectionChange(shown, difference)) }
        }
    }

    /// The collection as a notification shows it: live if the realm stands at the version there, else as it is in this version.
    private func showing(_ keys: [ObjectKey], _ snapshot: RealmSnapshot, _ live: RealmInstance) -> Results {
        guard live.view?.stands(at: snapshot) == true else {
            return with(query: query, instance: live, keys: keys).shown(from: self)
        }
        let results = with(query: query, instance: live).shown(from: self)
        results.know(keys, of: snapshot)
        return results
    }
}

extension DynamicObject {
    /// Calls `block` after each commit that changes or deletes the object, on the queue given or else where the realm belongs: on its queue, on its actor, or on the
    /// main queue if neither.
    @preconcurrency
    public func observe(
        on queue: DispatchQueue? = nil, _ block: @escaping @Sendable (ObjectChange<DynamicObject>) -> Void
    ) -> NotificationToken {
        handle.observe(nil, at: instance.deliveryPlace(queue)) { block($0.map(\.dynamic)) }
    }
}
