internal import Changesets
internal import Dispatch
public import Foundation
internal import Logging
internal import RealmState
internal import SyncProtocol

/// The subscriptions of a flexible realm: the newest set of its subscriptions, also after later updates.
///
/// A change is made in an update and takes effect once the server has sent what the new set selects; until then the set before it
/// stays in force.
public struct SyncSubscriptionSet: Sendable {
    let instance: RealmInstance
    private let draft = SubscriptionDraft()

    init(_ instance: RealmInstance) { self.instance = instance }

    private var core: RealmCore { instance.core }
    private var sets: SubscriptionSets { core.subscriptions }
    private var subscriptions: [Subscription] { draft.subscriptions ?? sets.latest.subscriptions }

    // MARK: Reading

    /// The set's number: 0 before the first update.
    public var version: UInt64 { sets.latest.version.rawValue }

    /// How many subscriptions there are.
    public var count: Int { subscriptions.count }

    /// The state of the newest set.
    public var state: SyncSubscriptionState {
        let sets = sets
        return switch sets.outcome(of: sets.latest.version) {
        case .pending: .pending
        case .complete: .complete
        case .superseded: .superseded
        case .refused(let reason): .error(Realm.Error.refusedSubscriptions(reason))
        }
    }

    /// Why the server refused the newest set; nil if it did not.
    public var error: (any Error)? { if case .error(let error) = state { error } else { nil } }

    /// The first subscription, in the order in which they were added.
    public var first: SyncSubscription? { self[0] }
    /// The last subscription.
    public var last: SyncSubscription? { self[count - 1] }

    /// One subscription; nil if there are not so many.
    public subscript(position: Int) -> SyncSubscription? {
        let subscriptions = subscriptions
        return subscriptions.indices.contains(position)
            ? SyncSubscription(set: self, stored: subscriptions[position]) : nil
    }

    /// The subscription with a name; nil if there is none.
    public func first(named name: String) -> SyncSubscription? { first(where: { $0.name == name }) }

    /// A subscription of a class with the same query, whatever its name; nil if there is none.
    public func first(
        ofType className: String, where predicateFormat: String, _ args: Any...
    ) -> SyncSubscription? {
        first(className, ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }

    func first(_ className: String, _ predicate: QueryPredicate) -> SyncSubscription? {
        let query = text(predicate, className)
        return first(where: { $0.objectClassName == className && $0.queryString == query })
    }

    // MARK: Updating

    /// Changes the subscriptions: what `block` does becomes one new set.
    ///
    /// Waits for other writers of the realm. A nested update traps. `onComplete` is called on the app's callback queue once the
    /// server has sent what the set selects, with an error if it refuses the set or the session ends before. A set that a later
    /// one supersedes counts as complete.
    public func update(_ block: () -> Void, onComplete: (@Sendable ((any Error)?) -> Void)? = nil) {
        checkIsNoUpdate()
        let app = instance.configuration.syncConfiguration?.user.core
        let queue = app?.syncManager.callbackQueue ?? .main
        let completion: @Sendable ((any Error)?) -> Void = { error in
            if let onComplete { queue.async { onComplete(error) } }
        }
        do {
            let version = try core.updateSubscriptions { change(block) }
            instance.session?.subscriptionsChanged()
            if onComplete != nil { instance.wait(for: version, completion) }
        } catch {
            if onComplete == nil {
                app?.logger.error(
                    "subscriptions could not be changed", metadata: ["realm": "\(core.location)", "error": "\(error)"])
            }
            completion(error)
        }
    }

    /// Changes the subscriptions as `update(_:onComplete:)` does, and returns once the server has sent what they select.
    /// - Throws: `Realm.Error` with code `subscriptionFailed` if the server refuses the set; what ended the session;
    ///   `CancellationError`, after which the set is still there.
    public func update(_isolation: isolated (any Actor)? = #isolation, _ block: () -> Void) async throws {
        checkIsNoUpdate()
        let core = core
        await core.lock.lockWithoutBlocking()
        let subscriptions = core.lock.run({ change(block) }, isHeld: { true })
        let version = try await FileQueue.run {
            defer { core.lock.unlock() }
            return try core.commitSubscriptions(subscriptions)
        }
        instance.session?.subscriptionsChanged()
        try await instance.wait(for: version)
    }

    /// Returns once the server has sent what the newest set selects. (Not upstream.)
    /// - Parameter timeout: in seconds.
    /// - Throws: as the asynchronous `update`; `POSIXError` with code `ETIMEDOUT`.
    public func wait(timeout: TimeInterval? = nil) async throws {
        try await instance.wait(for: sets.latest.version, timeout: timeout)
    }

    private func checkIsNoUpdate() {
        precondition(!instance.isFrozen, "the subscriptions of a frozen realm cannot be changed")
        precondition(draft.subscriptions == nil, "an update of subscriptions is under way already")
    }

    /// Returns the newest subscriptions as the block changes them; to be called with the write lock held.
    func change(_ block: () -> Void) -> [Subscription] { draft.changing(sets.latest.subscriptions, block) }

    // MARK: Inside of an update

    /// Adds subscriptions. One without a name whose class and query are there already changes nothing; a name that is
    /// there already traps.
    public func append<T>(_ subscriptions: QuerySubscription<T>...) {
        for new in subscriptions {
            let query = text(new.predicate, new.className)
            draft.change { present in
                if let name = new.name {
                    precondition(
                        !present.contains { $0.name == name },
                        "a subscription named '\(name)' already exists; change it with updateQuery")
                } else if present.contains(where: {
                    $0.name == nil && $0.className == new.className && $0.query == query
                }) {
                    return
                }
                present.append(Subscription(name: new.name, className: new.className, query: query))
            }
        }
    }

    /// Removes the subscription with a name, if there is one.
    public func remove(named name: String) { draft.change { $0.removeAll { $0.name == name } } }

    /// Removes subscriptions, as far as they are there.
    public func remove(_ subscriptions: SyncSubscription...) {
        let removed = Set(subscriptions.map(\.stored.id))
        draft.change { $0.removeAll { removed.contains($0.id) } }
    }

    /// Removes a subscription of a class with the same query, if there is one.
    public func remove(ofType className: String, where predicateFormat: String, _ args: Any...) {
        remove(className, ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }

    func remove(_ className: String, _ predicate: QueryPredicate) {
        let found = first(className, predicate)?.stored.id
        draft.change { $0.removeAll { $0.id == found } }
    }

    /// Removes all subscriptions.
    public func removeAll(unnamedOnly: Bool = false) {
        draft.change { $0.removeAll { !unnamedOnly || $0.name == nil } }
    }

    /// Removes all subscriptions of a class.
    public func removeAll(ofType className: String) {
        draft.change { $0.removeAll { $0.className == className } }
    }

    func update(_ subscription: Subscription, _ predicate: QueryPredicate) {
        let query = text(predicate, subscription.className)
        draft.change { present in
            guard let index = present.firstIndex(where: { $0.id == subscription.id }) else {
                preconditionFailure("the subscription is no longer in its set")
            }
            present[index].query = query
            present[index].updated = Date()
        }
    }

    private func text(_ predicate: QueryPredicate, _ className: String) -> String {
        let schema = instance.declaredSchema
        if let table = schema.table(ByteString(className)) {
            precondition(
                table.kind == .topLevel,
                "objects of class \(className) cannot be subscribed to: it is \(table.kind)")
        }
        let name = ByteString(className)
        return ValueConversion.orTrap { try predicate.text(on: name, schema, names: instance.names(of: name)) }
    }
}

extension SyncSubscriptionSet: Sequence {
    /// The subscriptions that there are now, in the order in which they were added.
    public func makeIterator() -> AnyIterator<SyncSubscription> {
        var rest = subscriptions.makeIterator()
        return AnyIterator { rest.next().map { SyncSubscription(set: self, stored: $0) } }
    }
}

extension Realm {
    /// The subscriptions of the realm. Traps unless the realm syncs in flexible mode.
    public var subscriptions: SyncSubscriptionSet {
        precondition(
            instance.isFlexible, "only a realm opened with flexibleSyncConfiguration has subscriptions")
        return SyncSubscriptionSet(instance)
    }
}
