internal import Changesets
internal import RealmState

// Lists, sets and backlinks of objects are asked as Results are.

/// A collection of objects of a realm that can be filtered and sorted.
public protocol _QueryableCollection<Element>: RealmCollection where Element: Object {
    /// The objects; an unmanaged collection traps.
    var _results: Results<Element> { get }
}

extension Results: _QueryableCollection where Element: Object {
    /// The collection itself.
    public var _results: Results<Element> { self }
}

extension RealmCollection where Self: _PropertyCollection, Element: Object {
    /// The objects that there are, in the collection's order.
    public var _results: Results<Element> {
        let field = field(toBe: "filtered or sorted")
        return Results(
            instance: field.instance, className: ByteString(ModelName.of(Element.self)),
            query: ResultsQuery(source: .collection(field.address)))
    }
}

extension List: _QueryableCollection where Element: Object {}
extension MutableSet: _QueryableCollection where Element: Object {}

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
    /// Returns the objects that meet a query, as in `where { $0.owner == user.id && !$0.done }`; as live as this collection.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        ValueConversion.orTrap { try _results.filtered { isIncluded(.root).expression.predicate } }
    }

    /// Returns the objects that meet a query; see `Results.filter(_:_:)`.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Element> {
        ValueConversion.orTrap { try _results.filtered { try QueryPredicate(format: predicateFormat, args) } }
    }

    /// The same objects sorted by a property; see `Results.sorted(byKeyPath:ascending:)`.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        _results.sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The same objects sorted by a property, as in `sorted(by: \.owner?.name)`; null comes first.
    public func sorted<V>(by keyPath: KeyPath<Element, V>, ascending: Bool = true) -> Results<Element> {
        _results.sorted(byKeyPath: KeyPathNames.of(keyPath), ascending: ascending)
    }

    /// The same objects sorted by several properties; see `Results.sorted(by:)`.
    public func sorted(by descriptors: [SortDescriptor]) -> Results<Element> { _results.sorted(by: descriptors) }

    /// Returns the objects without those that equal an earlier one in all these properties.
    public func distinct(by keyPaths: [String]) -> Results<Element> { _results.distinct(by: keyPaths) }
}
