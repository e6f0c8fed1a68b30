public import Foundation

/// The state of a set of subscriptions.
@frozen public enum SyncSubscriptionState: Sendable, Equatable {
    /// Everything that the subscriptions select is in the realm, and stays up to date.
    case complete
    /// The server refused the subscriptions; those before them stay in force.
    case error(any Error)
    /// The server has not sent everything yet.
    case pending
    /// Later subscriptions have taken their place.
    case superseded

    /// The same state, with errors that say the same.
    public static func == (left: SyncSubscriptionState, right: SyncSubscriptionState) -> Bool {
        switch (left, right) {
        case (.complete, .complete), (.pending, .pending), (.superseded, .superseded): true
        case (.error(let left), .error(let right)): left.localizedDescription == right.localizedDescription
        default: false
        }
    }
}

/// One subscription of a `SyncSubscriptionSet`, as it was when it was asked for.
public struct SyncSubscription: Sendable {
    let set: SyncSubscriptionSet
    let stored: Subscription

    /// The name; nil if class and query identify the subscription.
    public var name: String? { stored.name }
    /// When it was added.
    public var createdAt: Date { stored.created }
    /// When its query was last changed.
    public var updatedAt: Date { stored.updated }
    /// The class that it selects objects of.
    public var objectClassName: String { stored.className }
    /// The query, in the text that the server gets.
    public var queryString: String { stored.query }

    /// Makes it a subscription to the objects of its class that meet a query. Outside of an update of its set this traps.
    public func updateQuery(to predicateFormat: String, _ args: Any...) {
        set.update(stored, ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }

    /// Makes it a subscription to all objects of its class. Outside of an update of its set this traps.
    public func updateQuery(toType type: DynamicObject.Type) { set.update(stored, .all) }
}
