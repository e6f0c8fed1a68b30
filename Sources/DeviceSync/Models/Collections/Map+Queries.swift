internal import Changesets

#if !canImport(ObjectiveC)
public import Foundation
#endif

// Maps are asked as lists are; what they hold comes in the order of the keys. An unmanaged map traps.

extension Map {
    /// The values, as filters and sorting begin with them.
    public var _elements: Results<Value> { linked(Value.self) }
}

extension RealmKeyedCollection {
    /// Whether a closure says yes to one of the entries.
    public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
        for key in keys {
            if let value = self[key], try predicate(key, value) { return true }
        }
        return false
    }

    /// The values of a property that are not null, also of objects that no realm has.
    private func propertyValues(_ name: String) -> [RealmValue] {
        if realm != nil { return _elements.values(name) }
        return values.compactMap { value in
            ((ValueConversion.unwrapped(value) as? ObjectBase)?[name] as? any _Scalar)?._stored.value
        }
    }

    /// Returns what meets a query of the map's objects or values; see `RealmCollection.filter(_:_:)`.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Value> {
        ValueConversion.orTrap { try _elements.filtered { try QueryPredicate(format: predicateFormat, args) } }
    }

    #if !canImport(ObjectiveC)
    /// Returns what meets a predicate that was made of a format; see `RealmCollection.filter(_:)`.
    public func filter(_ predicate: NSPredicate) -> Results<Value> { _elements.filter(predicate) }
    #endif

    /// Returns what meets a query, as in `where { $0 > 3 }`; as live as the map.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> { _elements.where(isIncluded) }

    /// The objects sorted by several properties; see `RealmCollection.sorted(by:)`.
    public func sorted<S: Sequence>(by descriptors: S) -> Results<Value> where S.Element == SortDescriptor {
        _elements.sorted(by: descriptors)
    }

    /// The objects sorted by a property, which may be one of a linked object as in `owner.name`; null comes first.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        _elements.sorted([SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Returns the objects without those that equal an earlier one in all these properties.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value> where S.Element == String {
        _elements.distinct(by: keyPaths)
    }

    /// The smallest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func min<T: MinMaxType & RealmCollectionValue>(ofProperty name: String) -> T? {
        Aggregates.min(propertyValues(name))
    }
    /// The largest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func max<T: MinMaxType & RealmCollectionValue>(ofProperty name: String) -> T? {
        Aggregates.max(propertyValues(name))
    }
    /// The sum of a property; null counts as zero. An unknown property traps.
    public func sum<T: AddableType & RealmCollectionValue>(ofProperty name: String) -> T {
        Aggregates.sum(propertyValues(name))
    }
    /// The average of a property, nil if there is no value; null does not count. An unknown property traps.
    public func average<T: AddableType & RealmCollectionValue>(ofProperty name: String) -> T? {
        Aggregates.average(Aggregates.numbers(propertyValues(name), of: name))
    }
}

extension RealmKeyedCollection where Value: SortableType {
    /// The values sorted; null comes first.
    public func sorted(ascending: Bool = true) -> Results<Value> { _elements.sorted(ascending: ascending) }
    /// The values without repetitions.
    public func distinct() -> Results<Value> { _elements.distinct() }
}

extension RealmKeyedCollection where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The objects sorted by a property, as in `sorted(by: \.name)`; null comes first.
    public func sorted<V: _Persistable>(by keyPath: KeyPath<Value.Wrapped, V>, ascending: Bool = true) -> Results<Value>
    {
        sorted(byKeyPath: KeyPathNames.of(keyPath), ascending: ascending)
    }

    /// The smallest value of a property, nil if there is none.
    public func min<T: MinMaxType & RealmCollectionValue>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? {
        min(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The largest value of a property, nil if there is none.
    public func max<T: MinMaxType & RealmCollectionValue>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? {
        max(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The sum of a property.
    public func sum<T: AddableType & RealmCollectionValue>(of keyPath: KeyPath<Value.Wrapped, T>) -> T {
        sum(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The average of a property, nil if there is no value.
    public func average<T: AddableType & RealmCollectionValue>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The average of a property, nil if there is no value.
    @_disfavoredOverload
    public func average<T: AddableType>(of keyPath: KeyPath<Value.Wrapped, T>) -> Double? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }
}
