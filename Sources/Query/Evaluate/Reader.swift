import Changesets
import RealmState

/// What a side of a comparison offers: single values, or lists of them. A comparison holds if any pair of instances does.
enum Instance {
    case one(Value)
    case list([Value])
}

/// Reads what the sides of comparisons offer, from one object and those around it.
struct Reader {
    let graph: (any QueryGraph)?
    /// Where it is used up, what is read is cut short.
    let meter: EvaluationMeter?

    /// Takes for objects or lists that are about to be made.
    private func mayMake(_ count: Int) -> Bool {
        guard let meter else { return true }
        meter.take(count &* EvaluationMeter.stepsPerNode)
        return !meter.isSpent
    }

    /// Takes for elements that are about to be handed on.
    private func mayPass(_ count: Int) -> Bool { meter?.goOn(elements: count) ?? true }

    // MARK: Objects

    /// The objects at the end of some hops, in order; once for each way there.
    func objects(over hops: ArraySlice<QueryPath.Hop>, from node: QueryNode) -> [QueryNode] {
        var nodes = [node]
        for hop in hops { nodes = nodes.flatMap { mayMake(1) ? follow(hop, from: $0) : [] } }
        return nodes
    }

    private func follow(_ hop: QueryPath.Hop, from node: QueryNode) -> [QueryNode] {
        switch hop.kind {
        case .backlink(let className, let property): return origins(of: node, className, property)
        case .link(let property):
            let value = node.value(property)
            let isWhole = hop.selection == .all
            if isWhole, value.elementCount > 0, !mayMake(value.elementCount) { return [] }
            switch value {
            case .list(let items):
                switch hop.selection {
                case .all: return items.compactMap { target($0, hop, property, node) }
                case .index(let index):
                    guard index >= 0, index < items.count else { return [] }
                    return target(items[Int(index)], hop, property, node).map { [$0] } ?? []
                case .last: return items.last.flatMap { target($0, hop, property, node) }.map { [$0] } ?? []
                case .key: return []
                }
            case .set(let items): return items.compactMap { target($0, hop, property, node) }
            case .dictionary(let entries):
                if case .key(let key) = hop.selection {
                    return entries[key].flatMap { target($0, hop, property, node) }.map { [$0] } ?? []
                }
                return entries.sorted { $0.key < $1.key }.compactMap { target($0.value, hop, property, node) }
            default: return target(value, hop, property, node).map { [$0] } ?? []
            }
        }
    }

    private func target(
        _ value: Value, _ hop: QueryPath.Hop, _ property: QueryProperty, _ node: QueryNode
    ) -> QueryNode? {
        switch value {
        case .link(let address):
            guard let graph else { return QueryNode(object: nil, className: hop.target, key: address.key) }
            guard let object = graph.object(at: address) else { return nil }
            return QueryNode(object: object, className: hop.target, key: address.key)
        case .embedded(let object):
            return QueryNode(
                object: object, className: hop.target, parent: QueryParent(node, property.slot))
        default: return nil
        }
    }

    private func origins(of node: QueryNode, _ className: ByteString, _ property: QueryProperty) -> [QueryNode] {
        if let parent = node.parent {
            return parent.node.className == className && parent.property == property.slot ? [parent.node] : []
        }
        guard let graph, let address = node.address, case .column(let column) = property.slot else { return [] }
        return graph.origins(of: address, in: className, over: column).compactMap { origin in
            graph.object(at: origin).map { QueryNode(object: $0, className: className, key: origin.key) }
        }
    }

    // MARK: Sides

    func instances(_ side: Side, _ node: QueryNode) -> [Instance] {
        switch side {
        case .constant(let constant): return [.one(constant.comparable)]
        case .list(let list): return [.list(list.elements.map(\.comparable))]
        case .path(let path): return instances(path, node)
        case .aggregate(let path, let function, let field):
            guard let field else {
                let type = side.type
                return instances(path, node).map { instance in
                    guard case .list(let values) = instance, mayPass(2 * values.count) else { return instance }
                    return .one(Aggregate.apply(function, values, type))
                }
            }
            let values = objects(over: path.hops[...], from: node).map { $0.value(field) }
            return [.one(Aggregate.apply(function, values, field.type))]
        case .subquery: return [.one(.null)]
        case .operation(let op, let left, let right, _):
            let rightInstances = instances(right, node)
            return instances(left, node).flatMap { left in
                mayMake(rightInstances.count) ? rightInstances.map { combine(op, left, $0) } : []
            }
        }
    }

    private func combine(_ op: ArithmeticOperator, _ left: Instance, _ right: Instance) -> Instance {
        guard mayPass(max(left.count, right.count)) else { return .one(.null) }
        return switch (left, right) {
        case (.one(let left), .one(let right)): .one(Arithmetic.apply(op, left, right))
        case (.list(let left), .one(let right)): .list(left.map { Arithmetic.apply(op, $0, right) })
        case (.one(let left), .list(let right)): .list(right.map { Arithmetic.apply(op, left, $0) })
        case (.list(let left), .list(let right)): .list(zip(left, right).map { Arithmetic.apply(op, $0, $1) })
        }
    }

    private func instances(_ path: QueryPath, _ node: QueryNode) -> [Instance] {
        switch path.suffix {
        case .none: return plainInstances(path, node)
        case .type:
            return plainInstances(path, node).map {
                !mayPass($0.count) ? $0 : $0.mapped { .int(Int64(TypeNames($0).rawValue)) }
            }
        case .count: return counts(path, node)
        }
    }

    private func plainInstances(_ path: QueryPath, _ node: QueryNode) -> [Instance] {
        switch path.end {
        case .objects:
            let nodes = objects(over: path.hops[...], from: node)
            return [path.isMulti ? .list(nodes.map(\.reference)) : .one(nodes.first?.reference ?? .null)]
        case .property(let property, let indexes):
            if property.isCollection { return collection(property, indexes, path, node) }
            if path.hops.isEmpty, indexes.isEmpty { return [.one(resolved(node.value(property)))] }
            let nodes = objects(over: path.hops[...], from: node)
            guard indexes.isEmpty else { return matches(nodes.map { $0.value(property) }, indexes, path) }
            let values = nodes.map { resolved($0.value(property)) }
            return [path.isMulti ? .list(values) : .one(values.first ?? .null)]
        case .keys(let property):
            return lists(path, node) { node in
                guard case .dictionary(let entries) = node.value(property), mayMake(entries.count) else { return [] }
                return entries.keys.sorted().map { .string($0) }
            }
        case .elementLengths(let property):
            let lists = objects(over: path.hops[...], from: node).map { elements(of: $0.value(property)) }
            return [.list(lists.joined().map { $0 == .null ? .int(0) : size(of: $0) })]
        case .backlinkCount:
            let nodes = objects(over: path.hops[...], from: node)
            return [.one(.int(Int64(nodes.reduce(0) { $0 + incomingLinkCount(of: $1) })))]
        }
    }

    private func incomingLinkCount(of node: QueryNode) -> Int {
        if node.parent != nil { return 1 }
        guard let graph, let address = node.address else { return 0 }
        return graph.incomingLinkCount(of: address)
    }

    /// A list for each object that the path leads to, an empty one if there is none.
    private func lists(_ path: QueryPath, _ node: QueryNode, _ list: (QueryNode) -> [Value]) -> [Instance] {
        if path.hops.isEmpty { return [.list(list(node))] }
        let lists = objects(over: path.hops[...], from: node).map { Instance.list(list($0)) }
        return lists.isEmpty ? [.list([])] : lists
    }

    private func collection(
        _ property: QueryProperty, _ indexes: [PathIndex], _ path: QueryPath, _ node: QueryNode
    ) -> [Instance] {
        if indexes.isEmpty || (property.collection != .dictionary && indexes.count == 1) {
            return lists(path, node) { node in
                let items = elements(of: node.value(property))
                switch indexes.first {
                case nil, .all, .key: return items.map(resolved)
                case .index(let index): return index >= 0 && index < items.count ? [resolved(items[Int(index)])] : []
                case .last: return items.last.map { [resolved($0)] } ?? []
                }
            }
        }
        let nodes = path.hops.isEmpty ? [node] : objects(over: path.hops[...], from: node)
        return matches(nodes.map { $0.value(property) }, indexes, path)
    }

    // MARK: Inside values

    /// What indexes lead to inside some values: an instance for each collection at the end of the way.
    private func matches(_ values: [Value], _ indexes: [PathIndex], _ path: QueryPath) -> [Instance] {
        var found: [[Value]] = []
        for value in values { collect(value, indexes[...], &found) }
        guard !found.isEmpty else { return [.list([])] }
        // In a dictionary keys and numbers lead to one value, if to any.
        var isSingle = !path.isMulti && !indexes.contains(.all) && indexes.last != .key("@keys")
        if case .property(let property, _) = path.end, property.collection != .dictionary { isSingle = false }
        return found.map { values in
            if isSingle, let only = values.first { .one(resolved(only)) } else { .list(values.map(resolved)) }
        }
    }

    /// A key that is missing at the end leads to null; anything else that is not there leads to nothing.
    private func collect(_ value: Value, _ indexes: ArraySlice<PathIndex>, _ found: inout [[Value]]) {
        guard let index = indexes.first, mayMake(1) else { return }
        let rest = indexes.dropFirst()
        var reached: [Value] = []
        var isMissing = false
        switch (value, index) {
        case (.list, .all), (.set, .all), (.dictionary, .all): reached = elements(of: value)
        case (.list(let items), .index(let position)):
            if position >= 0, position < items.count { reached = [items[Int(position)]] }
        case (.list(let items), .last): reached = items.last.map { [$0] } ?? []
        case (.dictionary(let entries), .key(let key)):
            if let entry = entries[key] {
                reached = [entry]
            } else if key == "@keys", rest.isEmpty {
                guard mayMake(entries.count) else { return }
                reached = entries.keys.sorted().map { .string($0) }
            } else {
                isMissing = !entries.isEmpty
            }
        case (.link(let address), .key(let key)): reached = linked(address, key).map { [$0] } ?? []
        default: break
        }
        if rest.isEmpty {
            found.append(isMissing ? [.null] : reached)
        } else {
            for value in reached { collect(value, rest, &found) }
        }
    }

    /// The property of an object to which a mixed value links.
    private func linked(_ address: ObjectAddress, _ key: ByteString) -> Value? {
        guard let graph, let object = graph.object(at: address), let property = graph.schema[address.className]?[key]
        else { return nil }
        return QueryNode(object: object, className: address.className, key: address.key).value(property)
    }

    /// Returns the elements of a collection, in order.
    private func elements(of value: Value) -> [Value] {
        if case .dictionary = value { return mayMake(value.elementCount) ? value.elements : [] }
        return mayPass(value.elementCount) ? value.elements : []
    }

    /// Links to objects that do not exist read as null.
    private func resolved(_ value: Value) -> Value {
        guard case .link(let address) = value, let graph, graph.object(at: address) == nil else { return value }
        return .null
    }

    // MARK: Counts

    private func counts(_ path: QueryPath, _ node: QueryNode) -> [Instance] {
        switch path.end {
        case .objects:
            guard let last = path.hops.last else { return [] }
            let nodes = objects(over: path.hops.dropLast(), from: node)
            let counts = nodes.map { Value.int(mayMake(1) ? Int64(follow(last, from: $0).count) : 0) }
            return [path.hops.count == 1 ? .one(counts.first ?? .int(0)) : .list(counts)]
        case .property(let property, _) where property.isCollection:
            let nodes = objects(over: path.hops[...], from: node)
            let sizes = nodes.map { Value.int(Int64($0.value(property).elementCount)) }
            return [path.isMulti ? .list(sizes) : .one(sizes.first ?? .int(0))]
        default: return plainInstances(path, node).map { !mayPass($0.count) ? $0 : $0.mapped(size) }
        }
    }

    /// Returns the size of a value; of strings and binaries in bytes; null for a value that has none.
    private func size(of value: Value) -> Value {
        switch value {
        case .string(let text): .int(Int64(text.count))
        case .binary(let bytes): .int(Int64(bytes.count))
        case .list, .set, .dictionary: .int(Int64(value.elementCount))
        default: .null
        }
    }
}

extension Constant {
    /// The constant as comparisons look at it: names of types are numbers.
    var comparable: Value {
        switch content {
        case .value(let value): value
        case .types(let types): .int(Int64(types.rawValue))
        }
    }
}

extension Instance {
    var count: Int {
        switch self {
        case .one: 1
        case .list(let values): values.count
        }
    }

    func mapped(_ transform: (Value) -> Value) -> Instance {
        switch self {
        case .one(let value): .one(transform(value))
        case .list(let values): .list(values.map(transform))
        }
    }
}

extension Value {
    /// The elements of a collection, a dictionary's in the order of the keys; none for anything else.
    var elements: [Value] {
        switch self {
        case .list(let items), .set(let items): items
        case .dictionary(let entries): entries.sorted { $0.key < $1.key }.map(\.value)
        default: []
        }
    }

    var elementCount: Int {
        switch self {
        case .list(let items), .set(let items): items.count
        case .dictionary(let entries): entries.count
        default: 0
        }
    }
}
