internal import Changesets
public import Foundation
internal import SyncModel

/// The moment that `Results.subscribe` waits for.
@frozen public enum WaitForSyncMode: Sendable {
    /// The first data, if the subscription is new or its query another one.
    case onCreation
    /// Everything that the server has, each time.
    case always
    /// Nothing.
    case never
}

extension Results {
    /// Subscribes to what the collection selects, and returns the collection once that is here.
    ///
    /// A subscription with the same name gets the collection's query; without a name, one of the same class and query is enough. Sorting has
    /// no part in it. A collection narrowed down by a closure cannot be subscribed to and traps; use `filter(_:_:)`.
    /// - Parameters:
    ///   - name: unique among the realm's subscriptions.
    ///   - timeout: in seconds. The subscription stays when it is over.
    /// - Throws: `Realm.Error` with code `subscriptionFailed` if the server refuses the query; what ended the session;
    ///   `POSIXError` with code `ETIMEDOUT`; `CancellationError`.
    @discardableResult
    public func subscribe(
        name: String? = nil, waitForSync: WaitForSyncMode = .onCreation, timeout: TimeInterval? = nil
    ) async throws -> Results<Element> {
        precondition(instance.isFlexible, "only collections of a flexible realm can be subscribed to")
        let (core, className) = (instance.core, className.string)
        let query = subscribedQuery
        await core.lock.lockWithoutBlocking()
        let latest = core.subscriptions.latest
        var subscriptions = latest.subscriptions
        if let index = subscriptions.firstIndex(where: {
            $0.name == name && $0.className == className && (name != nil || $0.query == query)
        }) {
            if subscriptions[index].query != query {
                subscriptions[index].query = query
                subscriptions[index].updated = Date()
            }
        } else {
            precondition(
                name == nil || !subscriptions.contains { $0.name == name },
                "there is a subscription named '\(name ?? "")' to another class")
            subscriptions.append(Subscription(name: name, className: className, query: query))
        }
        let isNew = subscriptions != latest.subscriptions
        let changed = subscriptions
        let version = try await FileQueue.run {
            defer { core.lock.unlock() }
            return isNew ? try core.commitSubscriptions(changed) : latest.version
        }
        if isNew { instance.session?.subscriptionsChanged() }
        switch waitForSync {
        case .never: break
        case .onCreation: if isNew { try await instance.wait(for: version, timeout: timeout) }
        case .always:
            try await withTimeout(timeout) {
                try await instance.wait(for: version)
                try await instance.session?.wait(for: .download)
            }
        }
        return self
    }

    /// Removes the subscription to what the collection selects, if there is one: one without a name before one with a name.
    ///
    /// Returns before the server knows of that. The objects go when it does.
    public func unsubscribe() {
        precondition(instance.isFlexible, "only collections of a flexible realm can be subscribed to")
        let (className, query) = (className.string, subscribedQuery)
        let set = SyncSubscriptionSet(instance)
        func isSame(_ subscription: SyncSubscription) -> Bool {
            subscription.objectClassName == className && subscription.queryString == query
        }
        guard let found = set.first(where: { isSame($0) && $0.name == nil }) ?? set.first(where: isSame) else { return }
        set.update { set.remove(found) }
    }

    /// The text of the collection's conditions.
    private var subscribedQuery: String {
        precondition(
            query?.filters.isEmpty ?? true,
            "a collection that a closure narrows down cannot be subscribed to; use filter(_:_:) with a query")
        precondition(
            query.map { $0.source == .all } ?? true,
            "a collection taken from a list, or of what links to an object, cannot be subscribed to")
        return ValueConversion.orTrap {
            try (query ?? ResultsQuery()).text(className, instance.declaredSchema)
        }
    }
}

/// Runs `body` for so many seconds at most.
/// - Throws: `POSIXError` with code `ETIMEDOUT`, or what `body` throws.
func withTimeout(_ timeout: TimeInterval?, _ body: @escaping @Sendable () async throws -> Void) async throws {
    guard let timeout else { return try await body() }
    do {
        try await withDeadline(.seconds(timeout), body)
    } catch is DeadlinePassed {
        throw POSIXError(.ETIMEDOUT)
    }
}
