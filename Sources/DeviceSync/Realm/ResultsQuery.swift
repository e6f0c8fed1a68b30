internal import Changesets
internal import Query
internal import RealmState

/// A property to sort by.
public struct SortDescriptor: Sendable, Hashable {
    /// The property; of a linked object as "link.property".
    public let keyPath: String
    /// From the smallest value on.
    public let ascending: Bool

    /// A property to sort by.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }
}

/// Which objects of a class, in which order.
struct ResultsQuery: Sendable {
    var filters: [@Sendable (DynamicObject) -> Bool] = []
    /// All of which have to hold.
    var conditions: [QueryPredicate] = []
    /// The first that tells two objects apart decides; the primary key if none does.
    var order: [SortDescriptor] = []

    var isFiltered: Bool { !filters.isEmpty || !conditions.isEmpty }

    /// The keys of all objects that meet the query, as the instance shows them; all of the class for none.
    static func keys(_ className: ByteString, _ query: ResultsQuery?, _ instance: RealmInstance) -> [ObjectKey] {
        var keys = instance.read { $0.objects(of: className).map(\.key).sorted() }
        guard let query else { return keys }
        if !query.conditions.isEmpty {
            instance.read { keys = query.selected(keys, className, $0) }
        }
        if !query.filters.isEmpty {
            keys = keys.filter { key in
                let object = DynamicObject(
                    instance: instance, address: ObjectAddress(className, key), table: className)
                return query.filters.allSatisfy { $0(object) }
            }
        }
        guard !query.order.isEmpty else { return keys }
        return instance.read { query.sort(keys, className, $0) }
    }

    /// The keys of the objects that meet the conditions, as a state has them.
    private func selected(_ keys: [ObjectKey], _ className: ByteString, _ state: borrowing RealmState) -> [ObjectKey] {
        let state = copy state
        let graph = StateGraph(state)
        let queries = conditions.map { condition in
            ValueConversion.orTrap { try condition.query(on: className.string, state.schema) }
        }
        return keys.filter { key in
            guard let object = state.object(ObjectAddress(className, key)) else { return false }
            return queries.allSatisfy { $0.matches(object, key: key, in: graph) }
        }
    }

    /// The canonical text of several conditions that all have to hold; of none, what selects every object.
    static func text(of conditions: [QueryPredicate], _ className: ByteString, _ schema: Schema) -> String {
        ValueConversion.orTrap {
            guard let first = conditions.first else {
                return try QueryPredicate.all.canonicalText(on: className.string, schema)
            }
            guard conditions.count > 1 else { return try first.canonicalText(on: className.string, schema) }
            let parts = try conditions.map { try $0.query(on: className.string, schema).condition }
            return ObjectQuery(className: className, condition: .all(parts), schema: QuerySchema(schema)).canonicalText
        }
    }

    private func sort(_ keys: [ObjectKey], _ className: ByteString, _ state: borrowing RealmState) -> [ObjectKey] {
        var sorted: [(key: ObjectKey, values: [Value])] = []
        sorted.reserveCapacity(keys.count)
        for key in keys {
            let address = ObjectAddress(className, key)
            var values: [Value] = []
            for descriptor in order { values.append(Self.value(descriptor.keyPath, of: address, state)) }
            sorted.append((key, values))
        }
        sorted.sort { left, right in
            for (descriptor, pair) in zip(order, zip(left.values, right.values)) {
                let comparison = Value.compare(pair.0, pair.1)
                if comparison != 0 { return descriptor.ascending == (comparison < 0) }
            }
            return left.key < right.key
        }
        return sorted.map(\.key)
    }

    /// A property's value; null where a link on the way leads nowhere.
    private static func value(
        _ keyPath: String, of address: ObjectAddress, _ state: borrowing RealmState
    ) -> Value {
        let names = keyPath.split(separator: ".").map { ByteString(String($0)) }
        var address = address
        for name in names.dropLast() {
            guard case .link(let target)? = state.value(at: FieldAddress(address, name)) else { return .null }
            address = target
        }
        guard let name = names.last, let table = state.schema.table(address.className) else { return .null }
        if table.key?.name == name { return Value(address.key) }
        precondition(table.column(name) != nil, "class '\(address.className)' has no property '\(name)'")
        return state.value(at: FieldAddress(address, name)) ?? .null
    }
}

extension Value {
    /// A primary key as the value of its property.
    init(_ key: ObjectKey) {
        switch key {
        case .null, .globalKey: self = .null
        case .int(let value): self = .int(value)
        case .string(let value): self = .string(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        }
    }
}

extension Results where Element == DynamicObject {
    /// Those of the objects for which the closure says yes; as live as this collection is.
    ///
    /// The closure is called again whenever the realm has changed and the collection is looked at. It may only read.
    public func `where`(_ isIncluded: @escaping @Sendable (DynamicObject) -> Bool) -> Results<DynamicObject> {
        var query = query ?? ResultsQuery()
        query.filters.append(isIncluded)
        return Results(instance: instance, className: className, query: query)
    }

    /// Those of the objects that meet a query, as in `filter("owner == %@ AND done != true", user.id)`; as live as this collection
    /// is. A query that does not fit the class, and a placeholder without its argument, trap.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<DynamicObject> {
        var query = query ?? ResultsQuery()
        query.conditions.append(ValueConversion.orTrap { try QueryPredicate(format: predicateFormat, args) })
        // A mistake shows where it was made.
        _ = ResultsQuery.text(of: query.conditions, className, instance.schema)
        return Results(instance: instance, className: className, query: query)
    }

    /// The same objects sorted by a property; null comes first.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<DynamicObject> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The same objects sorted by several properties, the first one counting most.
    public func sorted(by descriptors: [SortDescriptor]) -> Results<DynamicObject> {
        var query = query ?? ResultsQuery()
        query.order = descriptors
        return Results(instance: instance, className: className, query: query)
    }
}
