public import Foundation

/// How strings are compared.
public struct StringOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int
    /// Options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Letters that differ in their case only are the same: ASCII and Latin-1 ones, together with `diacriticInsensitive` all.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Letters that differ in their diacritical marks only are the same. Subscriptions cannot have this: they trap.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)

    fileprivate var flag: String {
        isEmpty ? "" : "[\(contains(.caseInsensitive) ? "c" : "")\(contains(.diacriticInsensitive) ? "d" : "")]"
    }
}

/// A type whose values queries can compare by `<` and `>`.
public protocol _QueryOrdered {}
extension Float: _QueryOrdered {}
extension Double: _QueryOrdered {}
extension String: _QueryOrdered {}
extension Data: _QueryOrdered {}
extension Date: _QueryOrdered {}
extension ObjectId: _QueryOrdered {}
extension Decimal128: _QueryOrdered {}
extension AnyRealmValue: _QueryOrdered {}
extension Optional: _QueryOrdered where Wrapped: _QueryOrdered {}

/// A type of strings or bytes, optional or not.
public protocol _QueryText {}
extension String: _QueryText {}
extension Data: _QueryText {}
extension AnyRealmValue: _QueryText {}
extension Optional: _QueryText where Wrapped: _QueryText {}

// MARK: - Equality

extension Query where T: RealmCollectionValue {
    fileprivate func compared(_ op: String, _ value: T) -> Query<Bool> {
        Query<Bool>(.comparison(expression, op, Self.constant(value)))
    }

    private var isInsideMixed: Bool {
        if T.self == AnyRealmValue.self, case .path(let path) = expression { !path.suffix.isEmpty } else { false }
    }

    fileprivate func compared(_ op: String, _ other: Query<T>) -> Query<Bool> {
        Query<Bool>(.comparison(expression, op, other.expression))
    }

    /// Whether a property equals a value.
    public static func == (left: Query<T>, right: T) -> Query<Bool> { left.compared("==", right) }
    /// Whether two properties are equal.
    public static func == (left: Query<T>, right: Query<T>) -> Query<Bool> { left.compared("==", right) }
    /// Whether a property differs from a value.
    public static func != (left: Query<T>, right: T) -> Query<Bool> { left.compared("!=", right) }
    /// Whether two properties differ.
    public static func != (left: Query<T>, right: Query<T>) -> Query<Bool> { left.compared("!=", right) }

    /// Whether a property is among the values.
    public func `in`<C: Sequence>(_ values: C) -> Query<Bool> where C.Element == T {
        let values = Self.constant(Array(values))
        // What a path into a value of any type reaches is a list, even of one, and lists are in each other only if they are equal.
        return Query<Bool>(isInsideMixed ? .any(expression, "IN", values) : .comparison(expression, "IN", values))
    }
}

// MARK: - Order

extension Query where T: RealmCollectionValue & _QueryOrdered {
    /// Whether a property is less than a value.
    public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compared("<", right) }
    /// Whether a property is less than another.
    public static func < (left: Query<T>, right: Query<T>) -> Query<Bool> { left.compared("<", right) }
    /// Whether a property is less than a value, or equal.
    public static func <= (left: Query<T>, right: T) -> Query<Bool> { left.compared("<=", right) }
    /// Whether a property is less than another, or equal.
    public static func <= (left: Query<T>, right: Query<T>) -> Query<Bool> { left.compared("<=", right) }
    /// Whether a property is greater than a value.
    public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compared(">", right) }
    /// Whether a property is greater than another.
    public static func > (left: Query<T>, right: Query<T>) -> Query<Bool> { left.compared(">", right) }
    /// Whether a property is greater than a value, or equal.
    public static func >= (left: Query<T>, right: T) -> Query<Bool> { left.compared(">=", right) }
    /// Whether a property is greater than another, or equal.
    public static func >= (left: Query<T>, right: Query<T>) -> Query<Bool> { left.compared(">=", right) }
}

extension Query where T: PersistableEnum, T.RawValue: _QueryOrdered {
    /// Whether the raw value is less than that of a case.
    public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compared("<", right) }
    /// Whether the raw value is less than that of a case, or equal.
    public static func <= (left: Query<T>, right: T) -> Query<Bool> { left.compared("<=", right) }
    /// Whether the raw value is greater than that of a case.
    public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compared(">", right) }
    /// Whether the raw value is greater than that of a case, or equal.
    public static func >= (left: Query<T>, right: T) -> Query<Bool> { left.compared(">=", right) }
}

extension Query
where T: OptionalProtocol & RealmCollectionValue, T.Wrapped: PersistableEnum, T.Wrapped.RawValue: _QueryOrdered {
    /// Whether the raw value is less than that of a case.
    public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compared("<", right) }
    /// Whether the raw value is less than that of a case, or equal.
    public static func <= (left: Query<T>, right: T) -> Query<Bool> { left.compared("<=", right) }
    /// Whether the raw value is greater than that of a case.
    public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compared(">", right) }
    /// Whether the raw value is greater than that of a case, or equal.
    public static func >= (left: Query<T>, right: T) -> Query<Bool> { left.compared(">=", right) }
}

extension Query where T: _CustomPersistable, T.PersistedType: _QueryOrdered {
    /// Whether what is kept for a property is less than for a value.
    public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compared("<", right) }
    /// Whether what is kept for a property is less than for a value, or equal.
    public static func <= (left: Query<T>, right: T) -> Query<Bool> { left.compared("<=", right) }
    /// Whether what is kept for a property is greater than for a value.
    public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compared(">", right) }
    /// Whether what is kept for a property is greater than for a value, or equal.
    public static func >= (left: Query<T>, right: T) -> Query<Bool> { left.compared(">=", right) }
}

extension Query where T: RealmCollectionValue & _QueryOrdered & Comparable {
    /// Whether a property is in a range.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
        Query<Bool>(.between(expression, Self.constant(range.lowerBound), Self.constant(range.upperBound)))
    }
    /// Whether a property is in a range.
    public func contains(_ range: Range<T>) -> Query<Bool> {
        Query<Bool>(.and(compared(">=", range.lowerBound).expression, compared("<", range.upperBound).expression))
    }
}

extension Query where T: OptionalProtocol & RealmCollectionValue, T.Wrapped: _QueryOrdered & Comparable {
    /// Whether an optional property is in a range; null is in none.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
        Query<Bool>(
            .between(expression, Self.constant(range.lowerBound), Self.constant(range.upperBound)))
    }
    /// Whether an optional property is in a range; null is in none.
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
        Query<Bool>(
            .and(
                .comparison(expression, ">=", Self.constant(range.lowerBound)),
                .comparison(expression, "<", Self.constant(range.upperBound))))
    }
}

// MARK: - Text

extension Query where T: RealmCollectionValue & _QueryText {
    private func text(_ op: String, _ options: StringOptions, _ value: T) -> Query<Bool> {
        Query<Bool>(.comparison(expression, op + options.flag, Self.constant(value)))
    }

    private func text<U>(_ op: String, _ options: StringOptions, _ other: Query<U>) -> Query<Bool> {
        Query<Bool>(.comparison(expression, op + options.flag, other.expression))
    }

    /// Whether a property contains a text.
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> { text("CONTAINS", options, value) }
    /// Whether a property begins with a text.
    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> { text("BEGINSWITH", options, value) }
    /// Whether a property ends with a text.
    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> { text("ENDSWITH", options, value) }
    /// Whether a property matches a pattern: `?` is one character, `*` any number of them.
    public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
        text("LIKE", caseInsensitive ? .caseInsensitive : [], value)
    }
    /// Whether a property equals a text.
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> { text("==", options, value) }
    /// Whether a property differs from a text.
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> { text("!=", options, value) }

    /// Whether a property contains what another has.
    public func contains<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text("CONTAINS", options, column)
    }
    /// Whether a property begins with what another has.
    public func starts<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text("BEGINSWITH", options, column)
    }
    /// Whether a property ends with what another has.
    public func ends<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text("ENDSWITH", options, column)
    }
    /// Whether a property matches a pattern that another has.
    public func like<U>(_ column: Query<U>, caseInsensitive: Bool = false) -> Query<Bool> {
        text("LIKE", caseInsensitive ? .caseInsensitive : [], column)
    }
    /// Whether a property equals another.
    public func equals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text("==", options, column)
    }
    /// Whether a property differs from another.
    public func notEquals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text("!=", options, column)
    }
}

// MARK: - Logic

extension Query where T == Bool {
    /// Whether both conditions hold.
    public static func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
        Query(.and(left.expression, right.expression))
    }
    /// Whether one of the conditions holds.
    public static func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
        Query(.or(left.expression, right.expression))
    }
    /// Whether the condition does not hold.
    public static prefix func ! (condition: Query<Bool>) -> Query<Bool> { Query(.not(condition.expression)) }

    /// How many objects of a collection meet the condition, in which every property has to be one of theirs:
    /// `($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 1`.
    public var count: Query<Int> { Query<Int>(.subqueryCount(expression)) }

    /// The condition as one on the objects of a collection; see `count`.
    public func subquery() -> Query<Bool> { self }
}
