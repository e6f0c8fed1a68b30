import Changesets
import RealmState

/// Conditions as predicates mean them, where the query language means something else.
enum PredicateRules {
    /// A comparison that asks whether a text contains, begins or ends with another: it never holds for the empty one and null.
    static func withoutEmptyText(_ comparison: Comparison) -> Condition {
        guard comparison.op.isString, comparison.op != .like else { return .comparison(comparison) }
        switch comparison.right {
        case .constant(let constant):
            switch constant.value {
            case .string(let text)? where text.count > 0: break
            case .binary(let bytes)? where !bytes.isEmpty: break
            default: return .constant(false)
            }
        case .path(var path) where path.suffix == .none && !path.isMulti && path.scalarCollection == nil:
            path.suffix = .count
            let isFilled = Comparison(
                op: .greater, ignoresCase: false, left: .path(path), right: .constant(Constant(.int(0), .int)),
                isDirect: false)
            return .all([.comparison(isFilled), .comparison(comparison)])
        case .path, .list, .aggregate, .subquery, .operation: break
        }
        return .comparison(comparison)
    }

    /// Bounds on what several objects have: one of them has to keep both. Nil for a path that leads to one object at most.
    static func bounds(
        _ least: Comparison, _ greatest: Comparison, onOneObjectOf path: QueryPath
    ) -> Condition? {
        guard path.suffix == .none, path.quantifier != .all, let last = path.hops.lastIndex(where: { !$0.isUnary })
        else { return nil }
        if case .objects = path.end { return nil }
        func inner(_ bound: Comparison) -> Comparison {
            var (bound, path) = (bound, path)
            path.hops.removeFirst(last + 1)
            path.quantifier = nil
            bound.left = .path(path)
            bound.isDirect = Comparison.isDirect(bound.left, bound.right, bound.op)
            return bound
        }
        let objects = QueryPath(hops: Array(path.hops[...last]), end: .objects, quantifier: nil, place: path.place)
        let count = Side.subquery(Subquery(path: objects, condition: .bounds(inner(least), inner(greatest))))
        let some = Condition.comparison(
            Comparison(
                op: .greater, ignoresCase: false, left: count, right: .constant(Constant(.int(0), .int)),
                isDirect: false))
        return path.quantifier == Quantifier.none ? .not(some) : some
    }
}
