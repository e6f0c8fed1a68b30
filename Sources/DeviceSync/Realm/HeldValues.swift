internal import Changesets
internal import Query
internal import RealmState

/// What a list, set or map holds that are no links: values, or embedded objects. Results of them have positions in the place of keys.
struct HeldValues: Hashable, Sendable {
    /// The place of the collection.
    let field: FieldAddress
    /// The type of the values; nil for embedded objects.
    let type: PropertyContent?
    private let isOptional: Bool

    /// - Returns: nil for a collection of links.
    init?(_ field: FieldAddress, _ shape: _PropertyShape) {
        if shape.target == nil, case .object = shape.type { return nil }
        guard shape.target == nil || shape.target is EmbeddedObject.Type else { return nil }
        self.field = field
        type = shape.target == nil ? shape.type : nil
        isOptional = shape.isOptional
    }

    /// What one position holds, and the step that leads there.
    struct Item: Sendable {
        let step: PathStep
        let value: Value
    }

    /// What there is, in the order of the positions: of a map in that of its keys.
    func items(_ state: borrowing RealmState) -> [Item] {
        switch state.value(at: field) {
        case .list(let items)?, .set(let items)?:
            items.enumerated().map { Item(step: .index($0), value: $1) }
        case .dictionary(let entries)?:
            entries.sorted { $0.key < $1.key }.map { Item(step: .key($0.key), value: $0.value) }
        default: []
        }
    }

    /// What a position holds; nil if there is nothing any more.
    func item(at key: ObjectKey, _ state: borrowing RealmState) -> Item? {
        guard case .int(let number) = key, let position = Int(exactly: number), position >= 0 else { return nil }
        switch state.value(at: field) {
        case .list(let items)?, .set(let items)?:
            return position < items.count ? Item(step: .index(position), value: items[position]) : nil
        default:
            let items = items(state)
            return position < items.count ? items[position] : nil
        }
    }

    // MARK: Queries

    /// The name by which key paths and conditions know the value itself.
    static let itself = "self"
    private static let names: [ByteString] = ["self", "SELF", "Self"]
    private static let column = ColumnID(rawValue: 1)

    /// The classes that conditions speak of: for values one with nothing but the value itself.
    func querySchema(_ className: ByteString, _ schema: StoredSchema, names: QueryNames) -> QuerySchema {
        type.flatMap { Self.querySchema(className, $0, isOptional: isOptional) } ?? QuerySchema(schema, names: names)
    }

    /// The class whose objects are values of a type.
    static func querySchema(_ className: ByteString, _ type: PropertyContent, isOptional: Bool) -> QuerySchema? {
        guard let queryType = QueryType(PropertyDescription("", type).payloadType) else { return nil }
        let properties = names.map { name in
            QueryProperty(
                name: name, type: queryType, isNullable: isOptional || type == .any, slot: .column(column),
                defaultValue: .null)
        }
        return QuerySchema([QueryClass(name: className, isEmbedded: false, properties: properties)])
    }

    /// A value as an object of that class.
    static func object(holding value: Value) -> StoredObject { StoredObject([column: value]) }

    /// What conditions are tried on.
    private func object(_ value: Value) -> StoredObject? {
        guard type == nil else { return Self.object(holding: value) }
        return if case .embedded(let object) = value { object } else { nil }
    }

    /// A property of an embedded object, or the value itself.
    func value(_ keyPath: String, of item: Item, _ state: borrowing RealmState) -> Value {
        if type != nil { return item.value }
        let names = keyPath.split(separator: ".").map { ByteString(String($0)) }
        return ResultsQuery.value(names[...], at: field.appending(item.step), state)
    }

    /// The positions that a query selects, in its order.
    func keys(_ className: ByteString, _ query: ResultsQuery, _ instance: RealmInstance) -> [ObjectKey] {
        instance.read { state in
            let state = copy state
            let items = items(state)
            var positions = Array(items.indices)
            if !query.conditions.isEmpty {
                let graph = StateGraph(state)
                let schema = querySchema(className, state.schema, names: query.names)
                let queries = query.conditions.map { condition in
                    ValueConversion.orTrap { try condition.query(on: className, schema) }
                }
                positions = positions.filter { position in
                    guard let object = object(items[position].value) else { return false }
                    return queries.allSatisfy { $0.matches(object, key: .int(Int64(position)), in: graph) }
                }
            }
            for step in query.steps {
                switch step {
                case .sort(let order): positions = sorted(positions, items, order, state)
                case .distinct(let keyPaths):
                    var seen: Set<[Value]> = []
                    positions = positions.filter { position in
                        seen.insert(keyPaths.map { value($0, of: items[position], state) }).inserted
                    }
                }
            }
            return positions.map { .int(Int64($0)) }
        }
    }

    private func sorted(
        _ positions: [Int], _ items: [Item], _ order: [SortDescriptor], _ state: RealmState
    ) -> [Int] {
        let values = positions.map { position in order.map { value($0.keyPath, of: items[position], state) } }
        return positions.indices.sorted { left, right in
            for (number, descriptor) in order.enumerated() {
                let comparison = Value.compare(values[left][number], values[right][number])
                if comparison != 0 { return descriptor.ascending == (comparison < 0) }
            }
            return left < right
        }.map { positions[$0] }
    }
}

extension Results {
    /// What the collection holds, if these are no objects of a class of their own.
    var held: HeldValues? { if case .values(let held)? = query?.source { held } else { nil } }

    /// The classes that conditions on the elements speak of.
    func querySchema(_ names: QueryNames) -> QuerySchema {
        held?.querySchema(className, instance.schema, names: names) ?? QuerySchema(instance.schema, names: names)
    }

    /// Checks that a key path leads from the elements to a single value.
    /// - Throws: `ValueMismatch`.
    func check(_ keyPath: String) throws {
        guard held?.type != nil else { return try ResultsQuery.check(keyPath, className, instance.schema) }
        guard keyPath.lowercased() == HeldValues.itself else {
            throw ValueMismatch(
                description: "a collection of values is sorted by 'self' alone; '\(keyPath)' leads nowhere")
        }
    }
}
