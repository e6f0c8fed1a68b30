internal import Changesets
internal import RealmState

#if !canImport(ObjectiveC)
public import Foundation
#endif

// Lists, sets and backlinks are asked as Results are.

extension Results {
    /// The collection itself.
    public var _results: Results<Element> { self }
}

extension RealmCollection where Self: _PropertyCollection, Element: RealmCollectionValue {
    /// The elements that there are, in the collection's order.
    public var _results: Results<Element> { linked(Element.self) }
}

extension _PropertyCollection {
    /// What a collection holds or links to, as `Value` has it.
    func linked<Value: RealmCollectionValue>(_: Value.Type) -> Results<Value> {
        let field = field(toBe: "filtered or sorted")
        let shape = field.shape(of: Self._shape)
        let className = ByteString(Description.name(of: shape))
        guard let held = HeldValues(field.address, shape) else {
            return Results(
                instance: field.instance, className: className,
                query: ResultsQuery(source: .collection(field.address))
            ) { instance, address in Value._decode(_StoredValue(.link(address), in: field.moved(to: instance))) }
        }
        return Results(
            instance: field.instance, className: className, query: ResultsQuery(source: .values(held))
        ) { instance, address in
            guard let item = instance.read({ held.item(at: address.key, $0) }) else {
                preconditionFailure("the \(shape.collection) has no element at position \(address.key) any more")
            }
            return Value._decode(_StoredValue(item.value, in: field.moved(to: instance).appending(item.step)))
        }
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

// MARK: - Filters

extension RealmCollection {
    /// Returns the elements that meet a query, as in `filter("owner == %@ AND done != true", user.id)`; the result is as live as this collection. Values are `SELF` in it. A
    /// query that does not fit the class, and a placeholder without its argument, trap; for what a person has typed there is `filter(checking:_:)`.
    public func filter(
        _ predicateFormat: String, _ args: Any..., file: StaticString = #fileID, line: UInt = #line
    ) -> Results<Element> {
        Caller.at(file, line) {
            ValueConversion.orTrap { try _results.filtered { try QueryPredicate(format: predicateFormat, args) } }
        }
    }

    #if !canImport(ObjectiveC)
    /// Returns the elements that meet a predicate that was made of a format, or of several; see `filter(_:_:)`. A predicate made of a block traps.
    public func filter(
        _ predicate: NSPredicate, file: StaticString = #fileID, line: UInt = #line
    ) -> Results<Element> {
        Caller.at(file, line) { ValueConversion.orTrap { try _results.filtered { QueryPredicate(predicate) } } }
    }

    /// The position of the first element that meets a predicate, which is as for `filter(_:)`; nil if there is none.
    public func index(matching predicate: NSPredicate) -> Int? { position { QueryPredicate(predicate) } }
    #endif

    /// The position of the first element that meets a query; nil if there is none. See `filter(_:_:)`.
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
        position { try QueryPredicate(format: predicateFormat, args) }
    }

    fileprivate func position(_ condition: () throws -> QueryPredicate) -> Int? {
        if let unmanaged = UnmanagedValues(self) { return unmanaged.position(ValueConversion.orTrap(condition)) }
        if let unmanaged = UnmanagedObjects(self) {
            return ValueConversion.orTrap { try unmanaged.position(condition()) }
        }
        let all = _results
        let selected = ValueConversion.orTrap { try all.filtered(condition) }
        return selected.firstKey.flatMap { all.position(of: $0) }
    }
}

extension RealmCollection where Element: RealmCollectionValue {
    /// Returns the elements that meet a query, as in `where { $0.owner == user.id && !$0.done }`; as live as this collection.
    public func `where`(
        _ isIncluded: (Query<Element>) -> Query<Bool>, file: StaticString = #fileID, line: UInt = #line
    ) -> Results<Element> {
        Caller.at(file, line) {
            ValueConversion.orTrap { try _results.filtered { isIncluded(.root).expression.predicate } }
        }
    }

    /// The position of the first element that meets a query; nil if there is none.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        position { isIncluded(.root).expression.predicate }
    }
}

// MARK: - Order

/// A type whose elements have properties to sort by.
public protocol KeypathSortable {}
extension ObjectBase: KeypathSortable {}
extension DynamicObject: KeypathSortable {}

/// A type whose values can be sorted.
public protocol SortableType {}
extension Bool: SortableType {}
extension Int: SortableType {}
extension Int8: SortableType {}
extension Int16: SortableType {}
extension Int32: SortableType {}
extension Int64: SortableType {}
extension Float: SortableType {}
extension Double: SortableType {}
extension Decimal128: SortableType {}
extension String: SortableType {}
extension Date: SortableType {}
extension Data: SortableType {}
extension ObjectId: SortableType {}
extension UUID: SortableType {}
extension AnyRealmValue: SortableType {}
extension Optional: SortableType where Wrapped: SortableType {}

extension RealmCollection {
    /// The same elements sorted by several properties, the first one counting most. Elements that are equal in all of them stay in the order that they had. A key path
    /// that leads nowhere traps.
    public func sorted<S: Sequence>(by descriptors: S) -> Results<Element> where S.Element == SortDescriptor {
        _results.sorted(Array(descriptors))
    }

    /// Returns the elements without those that equal an earlier one in all these properties, and without those whose links on the way are null. A key path that leads
    /// nowhere traps.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Element == String {
        _results.distinct(Array(keyPaths))
    }
}

extension RealmCollection where Element: KeypathSortable {
    /// The same objects sorted by a property, which may be one of a linked object as in `owner.name`; null comes first. A key path that leads nowhere traps.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        _results.sorted([SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The same objects sorted by a property, as in `sorted(by: \.owner?.name)`; null comes first.
    public func sorted<V>(by keyPath: KeyPath<Element, V>, ascending: Bool = true) -> Results<Element> {
        _results.sorted([SortDescriptor(keyPath: KeyPathNames.of(keyPath), ascending: ascending)])
    }

    /// Returns the objects without those that equal an earlier one in all these properties.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Element == PartialKeyPath<Element> {
        _results.distinct(keyPaths.map { KeyPathNames.of($0) })
    }
}

extension RealmCollection where Element: RealmCollectionValue & SortableType {
    /// The same values sorted; null comes first. Of an unmanaged collection this traps.
    public func sorted(ascending: Bool = true) -> Results<Element> {
        _results.sorted([SortDescriptor(keyPath: HeldValues.itself, ascending: ascending)])
    }

    /// The values without repetitions, each where it comes first. Of an unmanaged collection this traps.
    public func distinct() -> Results<Element> { _results.distinct([HeldValues.itself]) }
}
