internal import Changesets
internal import Query
internal import RealmState

/// A query that the compiler checks: what the closures of `where` get and return.
///
///     realm.objects(Person.self).where { $0.age >= 18 && $0.dogs.name == "Rex" }
///     realm.objects(Person.self).where { $0.name.starts(with: "A", options: .caseInsensitive) || $0.nick.in(nicks) }
///     realm.objects(Person.self).where { ($0.dogs.age > 3 && $0.dogs.name.contains("x")).count > 1 }
///
/// `Query<Person>` stands for the objects of the class, `Query<Int>` for one of their properties, `Query<Bool>` for a condition. A condition on a property of the objects
/// in a collection holds if it holds for any of them. What it means is in docs/queries.md, which is about the same language as text.
@dynamicMemberLookup
public struct Query<T> {
    let expression: QueryExpression

    init(_ expression: QueryExpression) { self.expression = expression }

    /// The objects themselves.
    static var root: Query<T> { Query(.path(QueryExpression.Path(names: []))) }

    var path: QueryExpression.Path {
        guard case .path(let path) = expression else {
            preconditionFailure("only a property has properties, counts and operators of its own")
        }
        return path
    }

    fileprivate func member<Root: ObjectBase, V: _Persistable>(_ keyPath: KeyPath<Root, V>) -> Query<V> {
        let names = KeyPathNames.inQueries(keyPath)
        return Query<V>(.path(path.appending(names, isCollection: V._shape.collection != .none)))
    }

    fileprivate func with(suffix: String) -> QueryExpression {
        var path = path
        path.suffix += suffix
        return .path(path)
    }

    static func constant(_ value: Any?) -> QueryExpression {
        .constant(
            ValueConversion.orTrap {
                try ValueConversion.unwrapped(value).map { try PredicateFormat.argument($0) } ?? .value(.null)
            })
    }
}

// MARK: - Properties

extension Query where T: ObjectBase {
    /// A property of the objects.
    public subscript<V: _Persistable>(dynamicMember keyPath: KeyPath<T, V>) -> Query<V> { member(keyPath) }
}

/// An optional, as queries see it.
public protocol OptionalProtocol {
    /// The type without the optional.
    associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
    /// A property of the linked or embedded object.
    public subscript<V: _Persistable>(dynamicMember keyPath: KeyPath<T.Wrapped, V>) -> Query<V> { member(keyPath) }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
    /// A property of the objects in the collection: a condition on it holds if it holds for any of them.
    public subscript<V: _Persistable>(dynamicMember keyPath: KeyPath<T.Element, V>) -> Query<V> { member(keyPath) }
}

/// A map, as queries see it.
public protocol _QueryMap {
    /// The type of the keys.
    associatedtype Key: _MapKey
    /// The type of the values.
    associatedtype Value: RealmCollectionValue
}
extension Map: _QueryMap {}

extension Query where T: _QueryMap {
    /// The keys: a condition on them holds if it holds for any.
    public var keys: Query<T.Key> { Query<T.Key>(with(suffix: ".@keys")) }
    /// The values: a condition on them holds if it holds for any.
    public var values: Query<T.Value> { Query<T.Value>(with(suffix: ".@values")) }
    /// The value of a key; null if there is none.
    public subscript(_ key: T.Key) -> Query<T.Value> {
        Query<T.Value>(with(suffix: QueryNames.index(ByteString(key._text))))
    }
    /// How many entries there are.
    public var count: Query<Int> { Query<Int>(.aggregate(path, "@count")) }
    /// Whether one of the values is this one.
    public func contains(_ value: T.Value) -> Query<Bool> {
        Query<Bool>(.any(with(suffix: ".@values"), "==", Query<T.Value>.constant(value)))
    }
    /// Whether one of the values is among these.
    public func containsAny<C: Sequence>(in values: C) -> Query<Bool> where C.Element == T.Value {
        Query<Bool>(.any(with(suffix: ".@values"), "IN", Query<T.Value>.constant(Array(values))))
    }
}

extension Query where T: _QueryMap, T.Value: MinMaxType {
    /// The smallest value; null if there is none.
    public var min: Query<T.Value> { Query<T.Value>(.aggregate(path, "@min")) }
    /// The largest value; null if there is none.
    public var max: Query<T.Value> { Query<T.Value>(.aggregate(path, "@max")) }
}

extension Query where T: _QueryMap, T.Value: AddableType {
    /// The sum of the values.
    public var sum: Query<T.Value> { Query<T.Value>(.aggregate(path, "@sum")) }
    /// The average of the values; null if there is none.
    public var avg: Query<Double?> { Query<Double?>(.aggregate(path, "@avg")) }
}

extension Query where T == AnyRealmValue {
    /// The value of a key, where the property holds a dictionary.
    public subscript(_ key: String) -> Query<AnyRealmValue> { Query(with(suffix: QueryNames.index(ByteString(key)))) }
    /// The element at a position, where the property holds a list.
    public subscript(_ index: Int) -> Query<AnyRealmValue> { Query(with(suffix: "[\(index)]")) }
    /// Any element, where the property holds a list or a dictionary.
    public var any: Query<AnyRealmValue> { Query(with(suffix: "[*]")) }
}

extension Query where T: PersistableEnum {
    /// The raw value.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(expression) }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
    /// The raw value.
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(expression) }
}

// MARK: - Collections

extension Query where T: RealmCollection {
    /// How many elements there are.
    public var count: Query<Int> { Query<Int>(.aggregate(path, "@count")) }
    /// The same as `count`.
    public var size: Query<Int> { count }
}

extension Query where T: RealmCollection, T.Element: RealmCollectionValue {
    /// Whether one of the elements is this one.
    public func contains(_ element: T.Element) -> Query<Bool> {
        Query<Bool>(.any(expression, "==", Query<T.Element>.constant(element)))
    }
    /// Whether one of the elements is among these.
    public func containsAny<C: Sequence>(in elements: C) -> Query<Bool> where C.Element == T.Element {
        Query<Bool>(.any(expression, "IN", Query<T.Element>.constant(Array(elements))))
    }
}

extension Query where T: RealmCollection, T.Element: MinMaxType {
    /// The smallest element; null if there is none.
    public var min: Query<T.Element> { Query<T.Element>(.aggregate(path, "@min")) }
    /// The largest element; null if there is none.
    public var max: Query<T.Element> { Query<T.Element>(.aggregate(path, "@max")) }
}

extension Query where T: RealmCollection, T.Element: AddableType {
    /// The sum of the elements.
    public var sum: Query<T.Element> { Query<T.Element>(.aggregate(path, "@sum")) }
    /// The average of the elements; null if there is none.
    public var avg: Query<Double?> { Query<Double?>(.aggregate(path, "@avg")) }
}

extension Query where T: MinMaxType {
    /// The smallest value of the property among the objects in the collection.
    public var min: Query<T> { Query(.aggregate(path, "@min")) }
    /// The largest value of the property among the objects in the collection.
    public var max: Query<T> { Query(.aggregate(path, "@max")) }
}

extension Query where T: AddableType {
    /// The sum of the property over the objects in the collection.
    public var sum: Query<T> { Query(.aggregate(path, "@sum")) }
    /// The average of the property over the objects in the collection.
    public var avg: Query<Double?> { Query<Double?>(.aggregate(path, "@avg")) }
}
