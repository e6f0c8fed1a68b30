import Changesets
import RealmState

/// What a test is tried on.
struct Trial {
    var node: QueryNode
    let graph: (any QueryGraph)?
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
                for test in tests where !test(trial) { return false }
                return true
            }
        case .any(let parts):
            if let members = equalities(parts) { return members }
            let tests = parts.map(compile)
            return { trial in
                for test in tests where test(trial) { return true }
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
                let value = trial.node.value(slot, default: fallback)
                guard let above = ValueOrder.compare(value, low), let below = ValueOrder.compare(value, high) else {
                    return false
                }
                return above >= 0 && below <= 0
            }
        case .fullText(let path, let pattern, _):
            return { trial in
                Reader(graph: trial.graph).instances(.path(path), trial.node).contains { instance in
                    switch instance {
                    case .one(.string(let text)): pattern.matches(text.bytes)
                    case .list(let values):
                        values.contains {
                            if case .string(let text) = $0 { pattern.matches(text.bytes) } else { false }
                        }
                    default: false
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
            return { test($0.node.value(slot, default: fallback)) }
        }
        let test = ValueTest(
            op: comparison.op, ignoresCase: comparison.ignoresCase,
            areTypes: comparison.left.type == .typeName && !comparison.op.isString)
        if let pair = compile(comparison, test) { return pair }
        let left = comparison.left.quantifier ?? (comparison.isLinkInList ? .any : nil)
        let instances = InstanceTest(test: test, left: left, right: comparison.right.quantifier)
        let (leftSource, rightSource) = (source(comparison.left), source(comparison.right))
        return { instances.holds(leftSource($0), rightSource($0)) }
    }

    /// A property of the class itself beside a constant, which both have one value.
    private static func compile(_ comparison: Comparison, _ test: ValueTest) -> Test? {
        switch (comparison.left, comparison.right) {
        case (.path(let path), .constant(let constant)):
            guard let property = path.ownProperty, !property.isCollection, property.type != .mixed else { return nil }
            let (slot, fallback, value) = (property.slot, property.defaultValue, constant.comparable)
            return { test.holds($0.node.value(slot, default: fallback), value) }
        case (.constant(let constant), .path(let path)):
            guard let property = path.ownProperty, !property.isCollection, property.type != .mixed else { return nil }
            let (slot, fallback, value) = (property.slot, property.defaultValue, constant.comparable)
            return { test.holds(value, $0.node.value(slot, default: fallback)) }
        default: return nil
        }
    }

    private static func source(_ side: Side) -> @Sendable (borrowing Trial) -> [Instance] {
        switch side {
        case .constant, .list:
            let instances = Reader(graph: nil).instances(side, QueryNode(className: ""))
            return { _ in instances }
        case .subquery(let subquery):
            let test = compile(subquery.condition)
            let hops = subquery.path.hops
            return { trial in
                let nodes = Reader(graph: trial.graph).objects(over: hops[...], from: trial.node)
                return [.one(.int(Int64(nodes.count { test(Trial(node: $0, graph: trial.graph)) })))]
            }
        default: return { Reader(graph: $0.graph).instances(side, $0.node) }
        }
    }

    private static func compile(_ membership: Membership) -> Test {
        guard let property = membership.path.ownProperty else { return { _ in false } }
        let (slot, fallback) = (property.slot, property.defaultValue)
        if membership.isExact {
            let members = Set(membership.values)
            return { members.contains($0.node.value(slot, default: fallback)) }
        }
        let tests = membership.values.map { value in
            let constant = Constant(value, value == .null ? .null : property.type)
            let comparison = Comparison(
                op: .equal, ignoresCase: false, left: .path(membership.path), right: .constant(constant),
                isDirect: true)
            return DirectTest.make(comparison, property.type, constant)
        }
        return { trial in
            let value = trial.node.value(slot, default: fallback)
            return tests.contains { $0(value) }
        }
    }

    /// A long chain of `property == constant or ...` over one property is one look into a set.
    private static func equalities(_ parts: [Condition]) -> Test? {
        guard parts.count > 4 else { return nil }
        var property: QueryProperty?
        var values: Set<Value> = []
        for part in parts {
            guard case .comparison(let comparison) = part, comparison.isDirect, comparison.op == .equal,
                !comparison.ignoresCase, case .path(let path) = comparison.left, let own = path.ownProperty,
                [.int, .string, .objectID, .uuid].contains(own.type), property == nil || property == own,
                let value = comparison.right.singleConstant?.value
            else { return nil }
            property = own
            values.insert(value)
        }
        guard let property else { return nil }
        let (slot, fallback, members) = (property.slot, property.defaultValue, values)
        return { members.contains($0.node.value(slot, default: fallback)) }
    }

    private static func compile(_ path: QueryPath, _ properties: GeoProperties, _ region: GeoRegion) -> Test {
        let hops = path.hops
        return { trial in
            Reader(graph: trial.graph).objects(over: hops[...], from: trial.node).contains { node in
                guard let point = node.point(properties) else { return false }
                return region.contains(point)
            }
        }
    }
}
