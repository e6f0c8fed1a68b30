import RealmState

extension Condition {
    /// The number of comparisons to try an object on at most; those of a subquery are for each of its objects.
    var comparisonCount: Int {
        switch self {
        case .constant: 0
        case .all(let parts): parts.reduce(0) { $0 + $1.comparisonCount }
        case .any(let parts): Compiler.isOneLook(parts) ? 1 : parts.reduce(0) { $0 + $1.comparisonCount }
        case .not(let part): part.comparisonCount
        case .comparison(let comparison): comparison.left.comparisonCount + comparison.right.comparisonCount + 1
        case .member(let membership): membership.isExact ? 1 : membership.members.count
        case .bounds, .between: 2
        case .fullText, .geoWithin: 1
        }
    }
}

extension Side {
    fileprivate var comparisonCount: Int {
        switch self {
        case .constant, .list, .path, .aggregate: 0
        case .subquery(let subquery): subquery.condition.comparisonCount
        case .operation(_, let left, let right, _): left.comparisonCount + right.comparisonCount + 1
        }
    }
}
