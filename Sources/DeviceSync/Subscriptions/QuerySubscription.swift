/// A subscription to be added to a `SyncSubscriptionSet`: the objects of a class, or those that meet a query.
public struct QuerySubscription<T>: Sendable {
    /// A query that the compiler checks.
    public typealias QueryFunction = (Query<T>) -> Query<Bool>

    let className: String
    let name: String?
    let predicate: QueryPredicate
}

extension QuerySubscription where T == DynamicObject {
    /// A subscription to all objects of a class.
    /// - Parameter name: unique in the set; without one, class and query identify the subscription.
    public init(_ className: String, name: String? = nil) {
        self.init(className: className, name: name, predicate: .all)
    }

    /// A subscription to the objects of a class that meet a query, as in `where: "owner == %@ AND done != true", user.id`. A
    /// placeholder without its argument traps.
    /// - Parameter name: unique in the set; without one, class and query identify the subscription.
    public init(_ className: String, name: String? = nil, where predicateFormat: String, _ args: Any...) {
        self.init(
            className: className, name: name,
            predicate: ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }
}
