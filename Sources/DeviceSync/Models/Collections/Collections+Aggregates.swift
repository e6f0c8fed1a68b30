internal import Changesets
public import Foundation
internal import RealmState

/// Smallest and largest values, sums and averages of values as realms have them, of which null does not count.
enum Aggregates {
    static func min<T: RealmCollectionValue>(_ values: [RealmValue]) -> T? {
        ordered(values).min { RealmValue.compare($0, $1) < 0 }.map(extreme)
    }

    static func max<T: RealmCollectionValue>(_ values: [RealmValue]) -> T? {
        ordered(values).max { RealmValue.compare($0, $1) < 0 }.map(extreme)
    }

    /// The sum as the type that is asked for. Integers that go over 64 bits wrap around.
    static func sum<T: RealmCollectionValue>(_ values: [RealmValue]) -> T {
        T._decode(_StoredValue(converted(total(values), to: T._shape.type)))
    }

    /// The average as the type that is asked for; nil if there is no number.
    static func average<T: RealmCollectionValue>(_ values: [RealmValue]) -> T? {
        let numbers = values.filter { double($0) != nil }
        guard !numbers.isEmpty else { return nil }
        return T._decode(_StoredValue(converted(mean(numbers), to: T._shape.type)))
    }

    /// What the elements of a collection are in a realm.
    static func stored<Element: RealmCollectionValue>(_ elements: some Sequence<Element>) -> [RealmValue] {
        elements.compactMap { ($0 as? any _Scalar)?._stored.value }
    }

    // MARK: Numbers

    /// The numbers of a property; one that holds something else traps.
    static func numbers(_ values: [RealmValue], of name: String) -> [RealmValue] {
        for value in values where double(value) == nil {
            preconditionFailure("'\(name)' has no average: it holds no numbers")
        }
        return values
    }

    /// What has a place among the smallest and largest values: numbers and dates.
    private static func ordered(_ values: [RealmValue]) -> [RealmValue] {
        values.filter { value in if case .timestamp = value { true } else { double(value) != nil } }
    }

    private static func extreme<T: RealmCollectionValue>(_ value: RealmValue) -> T {
        let type = T._shape.type
        return T._decode(_StoredValue(type == .any || type == .date ? value : converted(value, to: type)))
    }

    private static func total(_ values: [RealmValue]) -> RealmValue {
        var (integers, doubles, decimals) = (Int64(0), 0.0, Decimal128())
        var (hasDouble, hasDecimal) = (false, false)
        for value in values {
            switch value {
            case .int(let number): integers &+= number
            case .decimal(let number): (decimals, hasDecimal) = (decimals + Decimal128(number), true)
            default:
                guard let number = double(value) else { continue }
                (doubles, hasDouble) = (doubles + number, true)
            }
        }
        guard hasDecimal else {
            return hasDouble ? .double(bits: (doubles + Double(integers)).bitPattern) : .int(integers)
        }
        let others = Decimal128(floatLiteral: doubles) + Decimal128(integerLiteral: Int(integers))
        return .decimal((decimals + others).value)
    }

    private static func mean(_ numbers: [RealmValue]) -> RealmValue {
        let sum = total(numbers)
        if case .decimal(let sum) = sum {
            return .decimal((Decimal128(sum) / Decimal128(integerLiteral: numbers.count)).value)
        }
        // Not the sum of integers, which may have gone over 64 bits.
        let doubles = numbers.reduce(0) { $0 + (double($1) ?? 0) }
        return .double(bits: (doubles / Double(numbers.count)).bitPattern)
    }

    private static func double(_ value: RealmValue) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .float(let bits): Double(Float(bitPattern: bits))
        case .double(let bits): Double(bitPattern: bits)
        case .decimal(let number): DecimalNumber(number).double
        default: nil
        }
    }

    /// The number in another type, as near as that has one.
    private static func converted(_ value: RealmValue, to type: PropertyContent) -> RealmValue {
        let number = double(value) ?? 0
        switch (type, value) {
        case (.int, .int), (.double, .double), (.decimal128, .decimal), (.any, .decimal): return value
        case (.int, _): return .int(Int64(exactly: number.rounded(.towardZero)) ?? 0)
        case (.float, _): return .float(bits: Float(number).bitPattern)
        case (.double, _): return .double(bits: number.bitPattern)
        case (.decimal128, .int(let integer)), (.any, .int(let integer)):
            return .decimal(Decimal128(integerLiteral: Int(integer)).value)
        case (.decimal128, _), (.any, _): return .decimal(Decimal128(floatLiteral: number).value)
        default: return value
        }
    }
}

// MARK: - Properties

extension RealmCollection {
    /// The smallest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func min<T: MinMaxType & RealmCollectionValue>(ofProperty name: String) -> T? {
        Aggregates.min(_values(name))
    }

    /// The largest value of a property, nil if there is none; null does not count. An unknown property traps.
    public func max<T: MinMaxType & RealmCollectionValue>(ofProperty name: String) -> T? {
        Aggregates.max(_values(name))
    }

    /// The sum of a property; null counts as zero. Integers that go over 64 bits wrap around. An unknown property traps.
    public func sum<T: AddableType & RealmCollectionValue>(ofProperty name: String) -> T {
        Aggregates.sum(_values(name))
    }

    /// The average of a property, nil if there is no value; null does not count. An unknown property, and one that holds no numbers, trap.
    public func average(ofProperty name: String) -> Double? {
        Aggregates.average(Aggregates.numbers(_values(name), of: name))
    }

    /// The average of a property, nil if there is no value; null does not count. An unknown property, and one that holds no numbers, trap.
    @_disfavoredOverload
    public func average<T: AddableType & RealmCollectionValue>(ofProperty name: String) -> T? {
        Aggregates.average(Aggregates.numbers(_values(name), of: name))
    }

    /// The smallest number of a property, nil if there is none; null does not count. An unknown property traps.
    @_disfavoredOverload
    public func min(ofProperty name: String) -> NSNumber? {
        (min(ofProperty: name) as AnyRealmValue?).flatMap { $0.scalar as? any _Number }?._number
    }

    /// The largest number of a property, nil if there is none; null does not count. An unknown property traps.
    @_disfavoredOverload
    public func max(ofProperty name: String) -> NSNumber? {
        (max(ofProperty: name) as AnyRealmValue?).flatMap { $0.scalar as? any _Number }?._number
    }

    /// The sum of a property; null counts as zero. An unknown property traps.
    @_disfavoredOverload
    public func sum(ofProperty name: String) -> NSNumber {
        let sum: AnyRealmValue = sum(ofProperty: name)
        return NSNumber(value: sum.decimal128Value?.doubleValue ?? 0)
    }
}

/// A number that Foundation has a class for.
private protocol _Number { var _number: NSNumber { get } }
extension Int: _Number { fileprivate var _number: NSNumber { NSNumber(value: self) } }
extension Float: _Number { fileprivate var _number: NSNumber { NSNumber(value: self) } }
extension Double: _Number { fileprivate var _number: NSNumber { NSNumber(value: self) } }
extension Decimal128: _Number { fileprivate var _number: NSNumber { NSNumber(value: doubleValue) } }

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property, nil if there is none.
    public func min<T: MinMaxType & RealmCollectionValue>(of keyPath: KeyPath<Element, T>) -> T? {
        min(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The largest value of a property, nil if there is none.
    public func max<T: MinMaxType & RealmCollectionValue>(of keyPath: KeyPath<Element, T>) -> T? {
        max(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The sum of a property.
    public func sum<T: AddableType & RealmCollectionValue>(of keyPath: KeyPath<Element, T>) -> T {
        sum(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The average of a property as the property's type, nil if there is no value.
    public func average<T: AddableType & RealmCollectionValue>(of keyPath: KeyPath<Element, T>) -> T? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }
    /// The average of a property, nil if there is no value.
    @_disfavoredOverload
    public func average<T: AddableType>(of keyPath: KeyPath<Element, T>) -> Double? {
        average(ofProperty: KeyPathNames.of(keyPath))
    }
}

// MARK: - Values

extension RealmCollection where Element: MinMaxType & RealmCollectionValue {
    /// The smallest value, nil if there is none; null does not count.
    public func min() -> Element? { Aggregates.min(Aggregates.stored(self)) }
    /// The largest value, nil if there is none; null does not count.
    public func max() -> Element? { Aggregates.max(Aggregates.stored(self)) }
}

extension RealmCollection where Element: AddableType & RealmCollectionValue {
    /// The sum of the values; null counts as zero. Integers that go over 64 bits wrap around.
    public func sum() -> Element { Aggregates.sum(Aggregates.stored(self)) }
    /// The average of the values, nil if there is none; null does not count.
    public func average() -> Double? { Aggregates.average(Aggregates.stored(self)) }
    /// The average of the values as another type, nil if there is none; null does not count.
    @_disfavoredOverload
    public func average<T: AddableType & RealmCollectionValue>() -> T? { Aggregates.average(Aggregates.stored(self)) }
}

extension RealmKeyedCollection where Value: MinMaxType {
    /// The smallest value, nil if there is none; null does not count.
    public func min() -> Value? { Aggregates.min(Aggregates.stored(values)) }
    /// The largest value, nil if there is none; null does not count.
    public func max() -> Value? { Aggregates.max(Aggregates.stored(values)) }
}

extension RealmKeyedCollection where Value: AddableType {
    /// The sum of the values; null counts as zero. Integers that go over 64 bits wrap around.
    public func sum() -> Value { Aggregates.sum(Aggregates.stored(values)) }
    /// The average of the values, nil if there is none; null does not count.
    public func average() -> Double? { Aggregates.average(Aggregates.stored(values)) }
    /// The average of the values as another type, nil if there is none; null does not count.
    @_disfavoredOverload
    public func average<T: AddableType & RealmCollectionValue>() -> T? { Aggregates.average(Aggregates.stored(values)) }
}

extension Results {
    /// The values of a property that are not null.
    func values(_ name: String) -> [RealmValue] {
        let name = stored(name)
        ValueConversion.orTrap { try check(name) }
        let keys = self.keys ?? ResultsQuery.keys(className, query, instance)
        let held = held
        return instance.read { state in
            var values: [RealmValue] = []
            for key in keys {
                let value: RealmValue
                if let held {
                    guard let item = held.item(at: key, state) else { continue }
                    value = held.value(name, of: item, state)
                } else {
                    value = ResultsQuery.value(name, of: ObjectAddress(className, key), state)
                }
                if value != .null { values.append(value) }
            }
            return values
        }
    }
}

extension RealmCollection {
    /// The values of a property that are not null, also of objects that no realm has.
    func _values(_ name: String) -> [RealmValue] {
        if realm != nil || self is Results<Element> { return _results.values(name) }
        return map { $0 }.compactMap { element in
            let object = ValueConversion.unwrapped(element) as? ObjectBase
            return (object?[name] as? any _Scalar)?._stored.value
        }
    }
}

// MARK: - By name

extension RealmCollection {
    /// The elements at some positions, in the order of the positions. A position that there is not traps.
    public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }
}

extension RealmCollection where Element: RealmCollectionValue {
    /// The values for `self`, or what an operator such as `@count` makes of them. Any other key traps.
    @_disfavoredOverload
    public func value(forKey key: String) -> Any? { value(forKeyPath: key) }

    /// The values for `self`, or what an operator such as `@sum.self` makes of them. Any other key path traps.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> Any? {
        if let value = CollectionOperators.value(keyPath, of: self) { return value }
        precondition(
            keyPath == HeldValues.itself || keyPath.first == "@", "values have no property '\(keyPath)', but 'self'")
        return keyPath == HeldValues.itself ? Array(self) : nil
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The values that the objects have in a property, nil for null; the objects themselves for `self`.
    public func value(forKey key: String) -> [Any?] {
        var values: [Any?] = []
        for object in self { values.append(key == HeldValues.itself ? object : object[key]) }
        return values
    }

    /// Gives all objects the same value in a property. Outside of a write transaction this traps.
    public func setValue(_ value: Any?, forKey key: String) {
        // An object that no longer belongs to the collection after that must not lead to others being left out.
        for object in Array(self) { object[key] = value }
    }
}

extension MutableSet where Element: ObjectBase {
    /// The set of the values that the objects have in a property, without null; the objects themselves for `self`.
    public func value(forKey key: String) -> Any? {
        let values: [Any?] = value(forKey: key)
        return Set(values.compactMap { ValueConversion.unwrapped($0) as? AnyHashable })
    }
}
