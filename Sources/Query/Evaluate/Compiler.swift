import Changesets
import RealmState

/// What a test is tried on.
struct Trial {
    var node: QueryNode
    let graph: (any QueryGraph)?
    var meter: EvaluationMeter?

    /// Looks at one value.
    ///
    /// - Returns: whether there is enough left to go on.
    func look() -> Bool {
        guard let meter else { return true }
        meter.take(EvaluationMeter.stepsPerTest)
        return !meter.isSpent
    }

    var isSpent: Bool { if let meter { meter.isSpent } else { false } }
}

typealias Test = @Sendable (borrowing Trial) -> Bool

/// Makes a checked condition into functions, with everything decided beforehand that does not depend on the object.
enum Compiler {
    static func compile(_ condition: Condition) -> Test {
        switch condition {
        case .constant(let value): return { _ in value }
        case .all(let parts):
            let tests = parts.map(compile)
            if tests.count == 2 {
                let (first, second) = (tests[0], tests[1])
                return { first($0) && second($0) }
            }
            return { trial in
                for test in tests where trial.isSpent || !test(trial) { return false }
                return true
            }
        case .any(let parts):
            if let members = equalities(parts) { return members }
            let tests = parts.map(compile)
            return { trial in
                for test in tests {
                    if trial.isSpent { return false }
                    if test(trial) { return true }
                }
                return false
            }
        case .not(let part):
            let test = compile(part)
            return { !test($0) }
        case .comparison(let comparison): return compile(comparison)
        case .member(let membership): return compile(membership)
        case .bounds(let low, let high):
            let (first, second) = (compile(low), compile(high))
            return { first($0) && second($0) }
        case .between(let path, let low, let high):
            guard let property = path.ownProperty else { return { _ in false } }
            let (slot, fallback) = (property.slot, property.defaultValue)
            let (low, high) = (low.comparable, high.comparable)
            return { trial in
                guard trial.look() else { return false }
                let value = trial.node.value(slot, default: fallback)
                guard let above = ValueOrder.compare(value, low), let below = ValueOrder.compare(value, high) else {
                    return false
                }
                return above >= 0 && below <= 0
            }
        case .fullText(let path, let pattern, _):
            return { trial in
                let meter = trial.meter
                func matches(_ value: Value) -> Bool {
                    guard case .string(let text) = value else { return false }
                    meter?.take(text.count * EvaluationMeter.stepsPerElement)
                    return pattern.matches(text.bytes)
                }
                return Reader(graph: trial.graph, meter: meter).instances(.path(path), trial.node).contains {
                    instance in
                    switch instance {
                    case .one(let value): matches(value)
                    case .list(let values): values.contains(where: matches)
                    }
                }
            }
        case .geoWithin(let path, let properties, let region): return compile(path, properties, region)
        }
    }

    private static func compile(_ comparison: Comparison) -> Test {
        if comparison.isDirect, case .path(let path) = comparison.left, let property = path.ownProperty,
            let constant = comparison.right.singleConstant
        {
            let (slot, fallback) = (property.slot, property.defaultValue)
            let test = DirectTest.make(comparison, property.type, constant)
            return { $0.look() && test($0.node.value(slot, default: fallback), $0.meter) }
        }
        let test = ValueTest(
            op: comparison.op, ignoresCase: comparison.ignoresCase, ignoresMarks: comparison.ignoresMarks,
            areTypes: comparison.left.type == .typeName && !comparison.op.isString,
            comparesContents: comparison.hasCollectionConstant)
        if let pair = compile(comparison, test) { return pair }
        let left = comparison.left.quantifier ?? (comparison.isLinkInList ? .any : nil)
        let instances = InstanceTest(
            test: test, left: left, right: comparison.right.quantifier, members: comparison.members)
        let (leftSource, rightSource) = (source(comparison.left), source(comparison.right))
        return { trial in
            guard trial.look() else { return false }
            let left = leftSource(trial)
            return instances.holds(left, rightSource(trial), trial.meter)
        }
    }

    /// A property of the class itself beside a constant, which both have one value.
    private static func compile(_ comparison: Comparison, _ test: ValueTest) -> Test? {
        switch (comparison.left, comparison.right) {
        case (.path(let path), .constant(let constant)):
            guard let property = path.ownProperty, !property.isCollection, property.type != .mixed else { return nil }
            let (slot, fallback, value) = (property.slot, property.defaultValue, constant.comparable)
            return { $0.look() && test.holds($0.node.value(slot, default: fallback), value, $0.meter) }
        case (.constant(let constant), .path(let path)):
            guard let property = path.ownProperty, !property.isCollection, property.type != .mixed else { return nil }
            let (slot, fallback, value) = (property.slot, property.defaultValue, constant.comparable)
            return { $0.look() && test.holds(value, $0.node.value(slot, default: fallback), $0.meter) }
        default: return nil
        }
    }

    private static func source(_ side: Side) -> @Sendable (borrowing Trial) -> [Instance] {
        switch side {
        case .constant, .list:
            let instances = Reader(graph: nil, meter: nil).instances(side, QueryNode(className: ""))
            return { _ in instances }
        case .subquery(let subquery):
            let test = compile(subquery.condition)
            let hops = subquery.path.hops
            return { trial in
                let (graph, meter) = (trial.graph, trial.meter)
                let nodes = Reader(graph: graph, meter: meter).objects(over: hops[...], from: trial.node)
                let count = nodes.count { node in
                    if let meter, meter.isSpent { return false }
                    return test(Trial(node: node, graph: graph, meter: meter))
                }
                return [.one(.int(Int64(count)))]
            }
        default: return { Reader(graph: $0.graph, meter: $0.meter).instances(side, $0.node) }
        }
    }

    private static func compile(_ membership: Membership) -> Test {
        guard let property = membership.path.ownProperty else { return { _ in false } }
        let (slot, fallback) = (property.slot, property.defaultValue)
        if membership.isExact {
            let members = membership.members
            return { $0.look() && members.contains($0.node.value(slot, default: fallback), $0.meter) }
        }
        let tests = membership.values.map { value in
            let constant = Constant(value, value == .null ? .null : property.type)
            let comparison = Comparison(
                op: .equal, ignoresCase: false, left: .path(membership.path), right: .constant(constant),
                isDirect: true)
            return DirectTest.make(comparison, property.type, constant)
        }
        return { trial in
            guard trial.look() else { return false }
            let value = trial.node.value(slot, default: fallback)
            let meter = trial.meter
            return tests.contains { test in
                if let meter, !meter.goOn(elements: 1) { return true }
                return test(value, meter)
            }
        }
    }

    /// A long chain of `property == constant or ...` over one property is one look into a set.
    private static func equalities(_ parts: [Condition]) -> Test? {
        guard let property = oneProperty(of: parts) else { return nil }
        let values = parts.compactMap { part -> Value? in
            if case .comparison(let comparison) = part { comparison.right.singleConstant?.value } else { nil }
        }
        let (slot, fallback, members) = (property.slot, property.defaultValue, MemberSet(values))
        return { $0.look() && members.contains($0.node.value(slot, default: fallback), $0.meter) }
    }

    /// Whether a chain of alternatives is no more than one look into a set.
    static func isOneLook(_ parts: [Condition]) -> Bool { oneProperty(of: parts) != nil }

    /// The property that each of many alternatives wants to equal a constant.
    private static func oneProperty(of parts: [Condition]) -> QueryProperty? {
        guard parts.count > 4 else { return nil }
        var property: QueryProperty?
        for part in parts {
            guard case .comparison(let comparison) = part, comparison.isDirect, comparison.op == .equal,
                comparison.isExact, case .path(let path) = comparison.left, let own = path.ownProperty,
                [.int, .string, .objectID, .uuid].contains(own.type), property == nil || property == own,
                comparison.right.singleConstant?.value != nil
            else { return nil }
            property = own
        }
        return property
    }

    private static func compile(_ path: QueryPath, _ properties: GeoProperties, _ region: GeoRegion) -> Test {
        let hops = path.hops
        let steps = region.corners * EvaluationMeter.stepsPerNode
        return { trial in
            let meter = trial.meter
            return Reader(graph: trial.graph, meter: meter).objects(over: hops[...], from: trial.node).contains {
                node in
                meter?.take(steps)
                if let meter, meter.isSpent { return true }
                guard let point = node.point(properties) else { return false }
                return region.contains(point)
            }
        }
    }
}

extension Comparison {
    /// The constants on the right of an equality if one look tells whether a value equals any of them: each equals just the values with the
    /// same bytes, as far as the left side can have such.
    fileprivate var members: Set<Value>? {
        guard op == .equal || op == .member, isExact, case .list(let list) = right,
            list.quantifier == nil || list.quantifier == .any, list.elements.count > 4
        else { return nil }
        var members: Set<Value> = []
        for element in list.elements {
            guard let value = element.value else { return nil }
            switch value {
            case .string, .bool, .binary, .timestamp, .objectID, .uuid, .null: break
            case .int where left.type == .int: break
            default: return nil
            }
            members.insert(value)
        }
        return members
    }
}

extension GeoRegion {
    /// The number of corners that a point is compared with.
    fileprivate var corners: Int {
        switch self {
        case .circle: 1
        case .polygon(let loops): loops.reduce(1) { $0 + 2 * $1.count }
        }
    }
}
