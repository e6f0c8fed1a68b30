public import Foundation

extension QuerySubscription where T: Object {
    /// A subscription to all objects of a class.
    /// - Parameter name: unique in the set; without one, class and query identify the subscription.
    public init(name: String? = nil) {
        self.init(className: ModelName.of(T.self), name: name, predicate: .all)
    }

    /// A subscription to the objects that meet a query, as in `QuerySubscription<Task> { $0.owner == user.id }`.
    /// - Parameter name: unique in the set; without one, class and query identify the subscription.
    public init(name: String? = nil, query: (Query<T>) -> Query<Bool>) {
        self.init(className: ModelName.of(T.self), name: name, predicate: query(.root).expression.predicate)
    }

    /// A subscription to the objects that meet a query, as in `where: "owner == %@ AND done != true", user.id`. A
    /// placeholder without its argument traps.
    /// - Parameter name: unique in the set; without one, class and query identify the subscription.
    public init(name: String? = nil, where predicateFormat: String, _ args: Any...) {
        self.init(
            className: ModelName.of(T.self), name: name,
            predicate: ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }

    #if !canImport(ObjectiveC)
    /// A subscription to the objects that meet a predicate that was made of a format.
    /// - Parameter name: unique in the set; without one, class and query identify the subscription.
    public init(name: String? = nil, where predicate: NSPredicate) {
        self.init(className: ModelName.of(T.self), name: name, predicate: QueryPredicate(predicate))
    }
    #endif
}

extension SyncSubscriptionSet {
    /// A subscription of a class with the same query, whatever its name; nil if there is none.
    public func first<T: Object>(ofType type: T.Type, where query: (Query<T>) -> Query<Bool>) -> SyncSubscription? {
        first(ModelName.of(type), query(.root).expression.predicate)
    }

    /// A subscription of a class with the same query, whatever its name; nil if there is none.
    public func first<T: Object>(
        ofType type: T.Type, where predicateFormat: String, _ args: Any...
    ) -> SyncSubscription? {
        first(ModelName.of(type), ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }

    /// Removes a subscription of a class with the same query, if there is one. Outside of an update this traps.
    public func remove<T: Object>(ofType type: T.Type, where query: (Query<T>) -> Query<Bool>) {
        remove(ModelName.of(type), query(.root).expression.predicate)
    }

    /// Removes a subscription of a class with the same query, if there is one. Outside of an update this traps.
    public func remove<T: Object>(ofType type: T.Type, where predicateFormat: String, _ args: Any...) {
        remove(ModelName.of(type), ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
    }

    /// Removes all subscriptions of a class. Outside of an update this traps.
    public func removeAll<T: Object>(ofType type: T.Type) { removeAll(ofType: ModelName.of(type)) }

    #if !canImport(ObjectiveC)
    /// A subscription of a class with the same query, whatever its name; nil if there is none.
    public func first<T: Object>(ofType type: T.Type, where predicate: NSPredicate) -> SyncSubscription? {
        first(ModelName.of(type), QueryPredicate(predicate))
    }

    /// Removes a subscription of a class with the same query, if there is one. Outside of an update this traps.
    public func remove<T: Object>(ofType type: T.Type, where predicate: NSPredicate) {
        remove(ModelName.of(type), QueryPredicate(predicate))
    }
    #endif
}

extension SyncSubscription {
    /// Makes it a subscription to the objects of its class that meet a query. Another class, and a call outside of an update of its set, trap.
    public func updateQuery<T: Object>(toType type: T.Type, where query: (Query<T>) -> Query<Bool>) {
        check(type)
        set.update(stored, query(.root).expression.predicate)
    }

    /// Makes it a subscription to all objects of its class. Another class, and a call outside of an update of its set, trap.
    public func updateQuery<T: Object>(toType type: T.Type) {
        check(type)
        set.update(stored, .all)
    }

    #if !canImport(ObjectiveC)
    /// Makes it a subscription to the objects of its class that meet a predicate. Outside of an update of its set this traps.
    public func updateQuery(to predicate: NSPredicate) { set.update(stored, QueryPredicate(predicate)) }
    #endif

    private func check(_ type: ObjectBase.Type) {
        precondition(
            ModelName.of(type) == stored.className,
            "a subscription to objects of class \(stored.className) cannot become one of class \(ModelName.of(type))")
    }
}
