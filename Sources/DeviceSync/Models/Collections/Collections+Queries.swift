internal import Changesets
internal import RealmState

// Lists, sets and backlinks of objects are asked as Results are.

extension Results {
    /// The collection itself.
    public var _results: Results<Element> { self }
}

extension RealmCollection where Self: _PropertyCollection, Element: RealmCollectionValue {
    /// The objects that there are, in the collection's order.
    public var _results: Results<Element> { linked(Element.self) }
}

extension _PropertyCollection {
    /// The objects that a collection links to, as `Value` has them.
    func linked<Value: RealmCollectionValue>(_: Value.Type) -> Results<Value> {
        let field = field(toBe: "filtered or sorted")
        guard let target = Self._shape.target, !(target is EmbeddedObject.Type) else {
            preconditionFailure("only a \(Self._shape.collection) of objects can be filtered or sorted")
        }
        return Results(
            instance: field.instance, className: ByteString(ModelName.of(target)),
            query: ResultsQuery(source: .collection(field.address))
        ) { instance, address in Value._decode(_StoredValue(.link(address), in: field.moved(to: instance))) }
    }
}

extension LinkingObjects {
    /// The objects that there are.
    public var _results: Results<Element> {
        guard let results else {
            preconditionFailure(
                "only what links to an object of a realm can be filtered or sorted; this one is unmanaged")
        }
        return results
    }
}

extension RealmCollection where Element: Object {
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

    /// Returns the objects without those that equal an earlier one in all these properties.
    public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> {
        _results.distinct(by: keyPaths.map { KeyPathNames.of($0) })
    }
}
