#if !canImport(ObjectiveC)
internal import RealmState
internal import Changesets
public import Foundation

extension RealmCollection where Element: Object {
    /// Returns the objects that meet a predicate that was made of a format; see `Results.filter(_:)`.
    public func filter(_ predicate: NSPredicate) -> Results<Element> { _results.filter(predicate) }

    /// The position of the first object that meets a predicate, which is as for `filter(_:)`; nil if there is none.
    public func index(matching predicate: NSPredicate) -> Int? { position(of: filter(predicate)) }
}
#endif

extension RealmCollection where Element: Object {
    /// The smallest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func min<T: MinMaxType & _Scalar>(ofProperty name: String) -> T? {
        _results.values(name).min { RealmValue.compare($0, $1) < 0 }.flatMap { T._scalar(_StoredValue($0)) }
    }

    /// The largest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func max<T: MinMaxType & _Scalar>(ofProperty name: String) -> T? {
        _results.values(name).max { RealmValue.compare($0, $1) < 0 }.flatMap { T._scalar(_StoredValue($0)) }
    }

    /// The sum of a property; null counts as zero. Integers that go over 64 bits wrap around. An unknown property traps.
    public func sum<T: AddableType & _Scalar & Numeric>(ofProperty name: String) -> T {
        _results.values(name).compactMap { T._scalar(_StoredValue($0)) }.reduce(into: T.zero) { $0 = T._adding($0, $1) }
    }

    /// The average of a property, nil if there is no value; null does not count. An unknown property, and one that holds no numbers, trap.
    public func average(ofProperty name: String) -> Double? {
        let numbers = _results.values(name).map { value -> Double in
            switch value {
            case .int(let number): return Double(number)
            case .float(let bits): return Double(Float(bitPattern: bits))
            case .double(let bits): return Double(bitPattern: bits)
            case .decimal(let number): return DecimalNumber(number).double
            default: preconditionFailure("'\(name)' of class \(_results.className) has no average: it holds no numbers")
            }
        }
        return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    }

    /// The average of a property of decimals, nil if there is no value; null does not count. An unknown property, and one of other values, trap.
    @_disfavoredOverload
    public func average(ofProperty name: String) -> Decimal128? {
        Decimal128.average(
            _results.values(name).map { value in
                guard let number = Decimal128._scalar(_StoredValue(value)) else {
                    preconditionFailure("'\(name)' of class \(_results.className) holds no decimal numbers")
                }
                return number
            })
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

    /// The average of a property, nil if there is no value.
    public func average(of keyPath: KeyPath<Element, Decimal128>) -> Decimal128? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The average of a property, nil if there is no value; null does not count.
    public func average(of keyPath: KeyPath<Element, Decimal128?>) -> Decimal128? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }

    /// What each object has in a property; nil for null.
    public func value(forKey key: String) -> [Any?] {
        var values: [Any?] = []
        for object in self { values.append(object[key]) }
        return values
    }

    /// Gives all objects the same value in a property. Outside of a write transaction this traps.
    public func setValue(_ value: Any?, forKey key: String) {
        // An object that no longer belongs to the collection after that must not lead to others being left out.
        for object in Array(self) { object[key] = value }
    }

    /// The position of the first object that meets a query; nil if there is none.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        position(of: `where`(isIncluded))
    }

    /// The position of the first object that meets a query; nil if there is none. See `Results.filter(_:_:)`.
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
        position(
            of: ValueConversion.orTrap { try _results.filtered { try QueryPredicate(format: predicateFormat, args) } })
    }

    private func position(of selected: Results<Element>) -> Int? { selected.first.flatMap { firstIndex(of: $0) } }
}

extension RealmCollection where Element: AddableType & Numeric {
    /// The sum of the values. Integers that go over 64 bits wrap around.
    public func sum() -> Element { reduce(into: Element.zero) { $0 = Element._adding($0, $1) } }
}

extension RealmCollection where Element: AddableType & BinaryInteger {
    /// The average of the values, nil if there is none.
    public func average() -> Double? { isEmpty ? nil : reduce(0) { $0 + Double($1) } / Double(count) }
}

extension RealmCollection where Element: AddableType & BinaryFloatingPoint {
    /// The average of the values, nil if there is none.
    public func average() -> Double? { isEmpty ? nil : reduce(0) { $0 + Double($1) } / Double(count) }
}

extension RealmCollection where Element == Decimal128 {
    /// The average of the values, nil if there is none.
    public func average() -> Decimal128? { Decimal128.average(Array(self)) }
}

extension Decimal128 {
    fileprivate static func average(_ numbers: [Decimal128]) -> Decimal128? {
        numbers.isEmpty ? nil : numbers.reduce(0, +) / Decimal128(integerLiteral: numbers.count)
    }
}

extension Results where Element: Object {
    /// The values of a property that are not null.
    fileprivate func values(_ name: String) -> [RealmValue] {
        let name = stored(name)
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
