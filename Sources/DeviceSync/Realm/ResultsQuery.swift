internal import Changesets
internal import Query
internal import RealmState

/// A property to sort by.
public struct SortDescriptor: Sendable, Hashable {
    /// The property; of a linked object as "link.property".
    public let keyPath: String
    /// Whether the smallest value comes first.
    public let ascending: Bool

    /// A property to sort by.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// A property to sort by, as in `SortDescriptor(keyPath: \Person.name)`.
    public init<Element: ObjectBase>(keyPath: PartialKeyPath<Element>, ascending: Bool = true) {
        self.init(keyPath: KeyPathNames.of(keyPath), ascending: ascending)
    }

    /// The same property in the other order.
    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

extension SortDescriptor: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A property to sort by, the smallest value first.
    public init(stringLiteral keyPath: String) { self.init(keyPath: keyPath) }

    /// The property and the order.
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }
}

/// Where the objects of a collection come from.
enum ResultsSource: Sendable, Hashable {
    /// All objects of the class.
    case all
    /// The objects that a list, set or map links to.
    case collection(FieldAddress)
    /// The objects that link to an object by a property.
    case origins(of: ObjectAddress, over: ByteString)
    /// The values or embedded objects that a list, set or map holds.
    case values(HeldValues)

    /// Whether what the objects come from was deleted.
    func isGone(in instance: RealmInstance) -> Bool {
        switch self {
        case .all: false
        case .collection(let field): instance.value(at: field) == nil
        case .values(let held): instance.value(at: held.field) == nil
        case .origins(let target, _): !instance.contains(target)
        }
    }

    /// The keys of the objects, of a class or set by ascending key, of a list in its order, of a map in that of its keys.
    func keys(_ className: ByteString, _ instance: RealmInstance) -> [ObjectKey] {
        switch self {
        case .all: return instance.read { Array($0.keys(of: className)) }
        case .collection(let field):
            return instance.read { state in
                let items: [Value] =
                    switch state.value(at: field) {
                    case .list(let items)?, .set(let items)?: items
                    case .dictionary(let entries)?: entries.sorted { $0.key < $1.key }.map(\.value)
                    default: []
                    }
                return items.compactMap { item in
                    guard case .link(let target) = item, target.className == className, state.contains(target) else {
                        return nil
                    }
                    return target.key
                }
            }
        case .origins(let target, let property): return instance.origins(of: target, in: className, over: property)
        case .values(let held): return instance.read { held.items($0).indices.map { .int(Int64($0)) } }
        }
    }
}

/// A query that says which objects of a class a collection has, and in which order.
struct ResultsQuery: Sendable {
    /// What is done to the objects once the conditions have chosen them.
    enum Step: Sendable {
        /// The first that tells two objects apart decides; the order so far if none does.
        case sort([SortDescriptor])
        /// Leaves out the objects that equal an earlier one in all these properties, and those whose links lead to none of them.
        case distinct([String])
    }

    var source = ResultsSource.all
    var filters: [@Sendable (DynamicObject) -> Bool] = []
    /// The conditions, all of which have to hold.
    var conditions: [QueryPredicate] = []
    /// The names by which conditions know the properties.
    var names = QueryNames()
    var steps: [Step] = []

    /// Whether the query only orders what there is of a class.
    var selectsAll: Bool {
        let isDistinct = steps.contains { if case .distinct = $0 { true } else { false } }
        return source == .all && filters.isEmpty && conditions.isEmpty && !isDistinct
    }

    /// The keys of all objects that meet the query, as the instance shows them; all of the class for none.
    static func keys(_ className: ByteString, _ query: ResultsQuery?, _ instance: RealmInstance) -> [ObjectKey] {
        guard let query else { return ResultsSource.all.keys(className, instance) }
        if case .values(let held) = query.source { return held.keys(className, query, instance) }
        var keys =
            query.conditions.isEmpty
            ? query.source.keys(className, instance)
            : query.source == .all
                ? instance.read { query.selected(className, $0) }
                : query.selected(query.source.keys(className, instance), className, instance)
        if !query.filters.isEmpty {
            keys = keys.filter { key in
                let object = ObjectHandle(instance, ObjectAddress(className, key)).dynamic
                return query.filters.allSatisfy { $0(object) }
            }
        }
        guard !query.steps.isEmpty else { return keys }
        return instance.read { state in
            var keys = keys
            for step in query.steps {
                switch step {
                case .sort(let order): keys = sorted(keys, order, className, state)
                case .distinct(let keyPaths): keys = distinct(keys, keyPaths, className, state)
                }
            }
            return keys
        }
    }

    /// The keys of the objects of a class that meet the conditions, ascending, as a state has them.
    private func selected(_ className: ByteString, _ state: borrowing RealmState) -> [ObjectKey] {
        let state = copy state
        let graph = StateGraph(state)
        let queries = queries(className, state.schema)
        func isSelected(_ key: ObjectKey, _ object: StoredObject) -> Bool {
            queries.allSatisfy { $0.matches(object, key: key, in: graph) }
        }
        guard let candidates = Candidates(queries, className, state) else {
            var selected: [ObjectKey] = []
            for (key, object) in state.cursor(of: className) where isSelected(key, object) { selected.append(key) }
            return selected
        }
        var selected = candidates.certain
        var rest = candidates.possible[...]
        while !rest.isEmpty {
            for (key, object) in state.objects(at: rest.prefix(1000), of: className) where isSelected(key, object) {
                selected.append(key)
            }
            rest = rest.dropFirst(1000)
        }
        return selected.sorted()
    }

    /// The objects that queries may select, if they can be found without going through the class: by primary key or by an index.
    private struct Candidates {
        /// The keys of objects that the queries select for certain.
        var certain: [ObjectKey] = []
        /// The keys of objects that have to be looked at.
        var possible: [ObjectKey] = []

        /// - Returns: nil if only going through the class finds them.
        init?(_ queries: [ObjectQuery], _ className: ByteString, _ state: RealmState) {
            let normalized = queries.map { NormalizedQuery($0) }
            for equality in normalized.flatMap(\.equalities) where equality.property.slot == .key {
                possible = Array(Set(equality.values.compactMap { ObjectKey($0) }))
                return
            }
            let ranges = queries.flatMap { $0.valueRanges(maxCount: DerivedRows.indexedBytes) }
            // Single values first: they leave fewer objects, as a rule.
            for (column, values) in ranges.filter(\.value.arePoints) + ranges {
                guard let keys = state.keys(of: className, having: column, in: values.ranges) else { continue }
                // Nothing more is asked, and the index has all of such values.
                let isCertain =
                    normalized.count == 1 && normalized[0].soleEquality?.property.slot == .column(column)
                    && values.ranges.allSatisfy { $0.low.count < DerivedRows.indexedBytes }
                (certain, possible) = isCertain ? (keys.indexed, keys.known) : ([], keys.indexed + keys.known)
                return
            }
            return nil
        }
    }

    /// Returns the keys whose objects meet the conditions.
    private func selected(_ keys: [ObjectKey], _ className: ByteString, _ instance: RealmInstance) -> [ObjectKey] {
        instance.read { state in
            let state = copy state
            let graph = StateGraph(state)
            let queries = queries(className, state.schema)
            return keys.filter { key in
                guard let object = state.object(ObjectAddress(className, key)) else { return false }
                return queries.allSatisfy { $0.matches(object, key: key, in: graph) }
            }
        }
    }

    private func queries(_ className: ByteString, _ schema: StoredSchema) -> [ObjectQuery] {
        let schema = QuerySchema(schema, names: names)
        return conditions.map { condition in ValueConversion.orTrap { try condition.query(on: className, schema) } }
    }

    /// The text of the conditions, all of which have to hold; of none, what selects every object.
    /// - Throws: `ValueMismatch`.
    func text(_ className: ByteString, _ schema: StoredSchema) throws -> String {
        let all = conditions.count == 1 ? conditions[0] : conditions.isEmpty ? .all : .and(conditions)
        return try all.text(on: className, schema, names: names)
    }

    private static func sorted(
        _ keys: [ObjectKey], _ order: [SortDescriptor], _ className: ByteString, _ state: borrowing RealmState
    ) -> [ObjectKey] {
        var sorted: [(position: Int, values: [Value])] = []
        sorted.reserveCapacity(keys.count)
        for (position, key) in keys.enumerated() {
            let address = ObjectAddress(className, key)
            var values: [Value] = []
            for descriptor in order { values.append(value(descriptor.keyPath, of: address, state)) }
            sorted.append((position, values))
        }
        sorted.sort { left, right in
            for (descriptor, pair) in zip(order, zip(left.values, right.values)) {
                let comparison = Value.compare(pair.0, pair.1)
                if comparison != 0 { return descriptor.ascending == (comparison < 0) }
            }
            return left.position < right.position
        }
        return sorted.map { keys[$0.position] }
    }

    private static func distinct(
        _ keys: [ObjectKey], _ keyPaths: [String], _ className: ByteString, _ state: borrowing RealmState
    ) -> [ObjectKey] {
        var seen: Set<[Value]> = []
        var result: [ObjectKey] = []
        let links = keyPaths.compactMap { $0.lastIndex(of: ".").map($0.prefix(upTo:)).map(String.init) }
        next: for key in keys {
            let address = ObjectAddress(className, key)
            for link in links where value(link, of: address, state) == .null { continue next }
            var values: [Value] = []
            for keyPath in keyPaths { values.append(value(keyPath, of: address, state)) }
            if seen.insert(values).inserted { result.append(key) }
        }
        return result
    }

    /// A property's value; null where a link on the way leads nowhere.
    static func value(_ keyPath: String, of address: ObjectAddress, _ state: borrowing RealmState) -> Value {
        value(keyPath.split(separator: ".").map { ByteString(String($0)) }[...], of: address, state)
    }

    private static func value(
        _ names: ArraySlice<ByteString>, of address: ObjectAddress, _ state: borrowing RealmState
    ) -> Value {
        guard let name = names.first else { return .null }
        if names.count == 1, state.schema.table(address.className)?.key?.name == name { return Value(address.key) }
        return value(names.dropFirst(), behind: FieldAddress(address, name), state)
    }

    /// The value that names lead to from an embedded object in a place.
    static func value(
        _ names: ArraySlice<ByteString>, at place: FieldAddress, _ state: borrowing RealmState
    ) -> Value {
        guard let name = names.first else { return .null }
        return value(names.dropFirst(), behind: place.appending(.key(name)), state)
    }

    private static func value(
        _ names: ArraySlice<ByteString>, behind place: FieldAddress, _ state: borrowing RealmState
    ) -> Value {
        let found = state.value(at: place)
        guard !names.isEmpty else { return found ?? .null }
        return switch found {
        case .link(let target)?: value(names, of: target, state)
        case .embedded?: value(names, at: place, state)
        default: .null
        }
    }

    /// Checks that a key path leads to a single value, over links and embedded objects.
    /// - Throws: `ValueMismatch`.
    static func check(_ keyPath: String, _ className: ByteString, _ schema: StoredSchema) throws {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map { ByteString(String($0)) }
        var table = schema.table(className)
        for (position, name) in names.enumerated() {
            guard let current = table else { return }
            let isLast = position == names.count - 1
            if current.key?.name == name, isLast { return }
            guard let column = current.column(name) else {
                throw ValueMismatch(
                    description: "class '\(current.name)' has no property '\(name)' (key path '\(keyPath)')")
            }
            guard column.collection == .single, isLast || column.element.type == .link else {
                throw ValueMismatch(
                    description: "the key path '\(keyPath)' goes over '\(name)', which is no "
                        + (isLast ? "single value" : "link or embedded object"))
            }
            table = column.element.target.flatMap { schema.table($0) }
        }
    }
}

extension Results where Element == DynamicObject {
    /// Returns the objects for which the closure says yes; the result is as live as this collection.
    ///
    /// The closure is called again whenever the realm has changed and the collection is looked at. It may only read.
    public func `where`(_ isIncluded: @escaping @Sendable (DynamicObject) -> Bool) -> Results<DynamicObject> {
        var query = query ?? ResultsQuery()
        query.filters.append(isIncluded)
        return with(query: query)
    }
}

extension Results {
    /// Returns the objects that meet a query whose text does not come from the program itself; see `filter(_:_:)`.
    /// - Throws: `Realm.Error` with code `invalidInput`, which says what is wrong with the query and where. (Not upstream.)
    public func filter(checking predicateFormat: String, _ args: Any...) throws -> Results<Element> {
        do {
            return try filtered { try QueryPredicate(format: predicateFormat, args) }
        } catch {
            throw Realm.Error(.invalidInput, "\(error)")
        }
    }

    /// - Throws: `ValueMismatch`.
    func filtered(_ condition: () throws -> QueryPredicate) throws -> Results<Element> {
        var query = query ?? ResultsQuery()
        let added = try condition()
        query.conditions.append(added)
        query.names = names
        // A mistake shows where it was made.
        let schema = querySchema(query.names)
        do {
            _ = try added.query(on: className, schema)
        } catch let error as QueryError {
            throw ValueMismatch(description: "\(added) on class \(className): \(error)")
        }
        try added.checkSelectsOnly(on: className, schema)
        return with(query: query)
    }

    func sorted(_ descriptors: [SortDescriptor]) -> Results<Element> {
        let stored = descriptors.map { SortDescriptor(keyPath: self.stored($0.keyPath), ascending: $0.ascending) }
        return arranged(.sort(stored), stored.map(\.keyPath))
    }

    func distinct(_ keyPaths: [String]) -> Results<Element> {
        let stored = keyPaths.map(stored)
        return arranged(.distinct(stored), stored)
    }

    /// A key path by the program's names, as the realm has it.
    func stored(_ keyPath: String) -> String { names.stored(keyPath, of: className, instance.schema) }

    private func arranged(_ step: ResultsQuery.Step, _ keyPaths: [String]) -> Results<Element> {
        ValueConversion.orTrap {
            for keyPath in keyPaths { try check(keyPath) }
        }
        var query = query ?? ResultsQuery()
        query.steps.append(step)
        return with(query: query)
    }
}
