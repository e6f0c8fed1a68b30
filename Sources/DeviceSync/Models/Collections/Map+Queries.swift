#if !canImport(ObjectiveC)
public import Foundation
#endif

// Maps of objects are asked as lists of objects are; the objects come in the order of their keys.

extension Map {
    /// Whether a closure says yes to one of the entries.
    public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
        for entry in self where try predicate(entry.key, entry.value) { return true }
        return false
    }
}

extension Map where Value: _QueryOptional, Value.Wrapped: Object {
    /// Returns the objects that meet a query, as in `where { $0.age > 3 }`; as live as the map. An unmanaged map traps.
    public func `where`(_ isIncluded: (Query<Value.Wrapped>) -> Query<Bool>) -> Results<Value> {
        ValueConversion.orTrap { try linked(Value.self).filtered { isIncluded(.root).expression.predicate } }
    }

    /// Returns the objects that meet a query; see `Results.filter(_:_:)`. An unmanaged map traps.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Value> {
        ValueConversion.orTrap {
            try linked(Value.self).filtered { try QueryPredicate(format: predicateFormat, args) }
        }
    }

    #if !canImport(ObjectiveC)
    /// Returns the objects that meet a predicate that was made of a format; see `Results.filter(_:)`. An unmanaged map traps.
    public func filter(_ predicate: NSPredicate) -> Results<Value> { linked(Value.self).filter(predicate) }
    #endif

    /// The objects sorted by a property; see `Results.sorted(byKeyPath:ascending:)`. An unmanaged map traps.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        linked(Value.self).sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The objects sorted by a property, as in `sorted(by: \.name)`; null comes first. An unmanaged map traps.
    public func sorted<V: _Persistable>(by keyPath: KeyPath<Value.Wrapped, V>, ascending: Bool = true) -> Results<Value>
    {
        sorted(byKeyPath: KeyPathNames.of(keyPath), ascending: ascending)
    }

    /// The objects sorted by several properties; see `Results.sorted(by:)`. An unmanaged map traps.
    public func sorted(by descriptors: [SortDescriptor]) -> Results<Value> {
        linked(Value.self).sorted(by: descriptors)
    }

    private func values<V>(_ keyPath: KeyPath<Value.Wrapped, V>) -> [V] {
        values.compactMap { ($0 as? Value.Wrapped)?[keyPath: keyPath] }
    }

    /// The smallest value of a property, nil if there is none.
    public func min<T: MinMaxType & Comparable>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? { values(keyPath).min() }
    /// The largest value of a property, nil if there is none.
    public func max<T: MinMaxType & Comparable>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? { values(keyPath).max() }
    /// The sum of a property.
    public func sum<T: AddableType & Numeric>(of keyPath: KeyPath<Value.Wrapped, T>) -> T {
        values(keyPath).reduce(into: .zero) { $0 = T._adding($0, $1) }
    }
    /// The average of a property, nil if there is no value.
    public func average<T: AddableType & BinaryInteger>(of keyPath: KeyPath<Value.Wrapped, T>) -> Double? {
        let values = values(keyPath)
        return values.isEmpty ? nil : values.reduce(0) { $0 + Double($1) } / Double(values.count)
    }
    /// The average of a property, nil if there is no value.
    public func average<T: AddableType & BinaryFloatingPoint>(of keyPath: KeyPath<Value.Wrapped, T>) -> Double? {
        let values = values(keyPath)
        return values.isEmpty ? nil : values.reduce(0) { $0 + Double($1) } / Double(values.count)
    }
}
