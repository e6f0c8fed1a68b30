internal import Changesets
internal import RealmState

// Lists, sets and backlinks of objects are asked as Results are.

extension _Field {
    /// The objects that the field links to, as a collection of their own.
    fileprivate func results<T: Object>(_ type: T.Type) -> Results<T> {
        Results(
            instance: instance, className: ByteString(ModelName.of(type)),
            query: ResultsQuery(source: .collection(address)))
    }
}

/// A collection of objects of a realm that can be filtered and sorted.
public protocol _QueryableCollection<Element>: RealmCollection where Element: Object {
    /// The live objects; an unmanaged collection traps.
    var _results: Results<Element> { get }
}

extension List: _QueryableCollection where Element: Object {
    /// The objects that there are, in the list's order.
    public var _results: Results<Element> {
        guard let field else {
            preconditionFailure("only a list of a realm can be filtered or sorted; this one is unmanaged")
        }
        return field.results(Element.self)
    }
}

extension MutableSet: _QueryableCollection where Element: Object {
    /// The objects that there are.
    public var _results: Results<Element> {
        guard let field else {
            preconditionFailure("only a set of a realm can be filtered or sorted; this one is unmanaged")
        }
        return field.results(Element.self)
    }
}

extension LinkingObjects: _QueryableCollection {
    /// The objects that there are.
    public var _results: Results<Element> {
        guard let results else {
            preconditionFailure(
                "only what links to an object of a realm can be filtered or sorted; this one is unmanaged")
        }
        return results
    }
}

extension _QueryableCollection {
    /// Those of the objects that meet a query; see `Results.where`.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        _results.where(isIncluded)
    }

    /// Those of the objects that meet a query; see `Results.filter(_:_:)`.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Element> {
        ValueConversion.orTrap { try _results.filtered { try QueryPredicate(format: predicateFormat, args) } }
    }

    /// The same objects sorted by a property; see `Results.sorted(byKeyPath:ascending:)`.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        _results.sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The same objects sorted by a property; see `Results.sorted(by:ascending:)`.
    public func sorted<V>(by keyPath: KeyPath<Element, V>, ascending: Bool = true) -> Results<Element> {
        _results.sorted(by: keyPath, ascending: ascending)
    }

    /// The same objects sorted by several properties; see `Results.sorted(by:)`.
    public func sorted(by descriptors: [SortDescriptor]) -> Results<Element> { _results.sorted(by: descriptors) }

    /// Of the objects that are equal in all these properties, the first only.
    public func distinct(by keyPaths: [String]) -> Results<Element> { _results.distinct(by: keyPaths) }
}

// MARK: - Aggregates

extension Results where Element: Object {
    /// The smallest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func min<T: MinMaxType & _Scalar>(ofProperty name: String) -> T? {
        values(name).min { RealmValue.compare($0, $1) < 0 }.flatMap { T._scalar(_StoredValue($0)) }
    }

    /// The largest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func max<T: MinMaxType & _Scalar>(ofProperty name: String) -> T? {
        values(name).max { RealmValue.compare($0, $1) < 0 }.flatMap { T._scalar(_StoredValue($0)) }
    }

    /// The sum of a property; null counts as zero. Integers that go over 64 bits wrap around. An unknown property traps.
    public func sum<T: AddableType & _Scalar & Numeric>(ofProperty name: String) -> T {
        values(name).compactMap { T._scalar(_StoredValue($0)) }.reduce(into: T.zero) { $0 = T._adding($0, $1) }
    }

    /// The average of a property, nil if there is no value; null does not count. An unknown property, and one that holds no numbers, trap.
    public func average(ofProperty name: String) -> Double? {
        let numbers = values(name).map { value -> Double in
            switch value {
            case .int(let number): return Double(number)
            case .float(let bits): return Double(Float(bitPattern: bits))
            case .double(let bits): return Double(bitPattern: bits)
            default: preconditionFailure("'\(name)' of class \(className) has no average: it holds no numbers")
            }
        }
        return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    }

    /// The smallest value of a property, nil if there is none.
    public func min<T: MinMaxType & _Scalar>(of keyPath: KeyPath<Element, T>) -> T? {
        min(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The largest value of a property, nil if there is none.
    public func max<T: MinMaxType & _Scalar>(of keyPath: KeyPath<Element, T>) -> T? {
        max(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The sum of a property.
    public func sum<T: AddableType & _Scalar & Numeric>(of keyPath: KeyPath<Element, T>) -> T {
        sum(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The average of a property, nil if there is no value.
    public func average<T: AddableType>(of keyPath: KeyPath<Element, T>) -> Double? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }

    /// The values of a property that are not null.
    private func values(_ name: String) -> [RealmValue] {
        ValueConversion.orTrap { try ResultsQuery.check(name, className, instance.schema) }
        let keys = ResultsQuery.keys(className, query, instance)
        return instance.read { state in
            var values: [RealmValue] = []
            for key in self.keys ?? keys {
                let value = ResultsQuery.value(name, of: ObjectAddress(className, key), state)
                if value != .null { values.append(value) }
            }
            return values
        }
    }

    /// What each object has in a property; nil for null.
    public func value(forKey key: String) -> [Any?] { map { $0[key] } }

    /// Gives all objects the same value in a property. Outside of a write transaction this traps.
    public func setValue(_ value: Any?, forKey key: String) {
        // An object that no longer belongs to the collection after that must not lead to others being left out.
        for object in Array(self) { object[key] = value }
    }

    /// The position of an object; nil if it is not in the collection.
    public func index(of object: Element) -> Int? { firstIndex(of: object) }

    /// The position of the first object that meets a query; nil if there is none.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        `where`(isIncluded).first.flatMap { firstIndex(of: $0) }
    }
}

extension Numeric {
    /// The sum; of integers without a trap.
    static func _adding(_ left: Self, _ right: Self) -> Self {
        guard let one = left as? any FixedWidthInteger else { return left + right }
        func wrapping<Integer: FixedWidthInteger>(_ left: Integer) -> Self? {
            (right as? Integer).flatMap { left &+ $0 as? Self }
        }
        return wrapping(one) ?? left
    }
}
