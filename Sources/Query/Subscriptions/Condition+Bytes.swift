import Changesets
import RealmState

extension ObjectQuery {
    /// The bytes that the query takes in memory, about, beside its schema.
    package var bytes: Int { 1_024 + condition.bytes }
}

extension Condition {
    /// What a comparison takes, with what it was made into.
    private static let bytesPerComparison = 768

    fileprivate var bytes: Int {
        switch self {
        case .constant: 64
        case .all(let parts), .any(let parts): parts.reduce(128) { $0 + $1.bytes }
        case .not(let part): 128 + part.bytes
        case .comparison(let comparison): Self.bytesPerComparison + comparison.left.bytes + comparison.right.bytes
        case .member(let membership): Self.bytesPerComparison + membership.members.bytes
        case .bounds, .between: 2 * Self.bytesPerComparison
        case .fullText(_, _, let text): Self.bytesPerComparison + 16 * text.count
        case .geoWithin(_, _, let region): Self.bytesPerComparison + region.bytes
        }
    }
}

extension Side {
    fileprivate var bytes: Int {
        switch self {
        case .constant(let constant): 2 * (constant.value?.byteCount ?? 0)
        case .list(let list): list.elements.reduce(0) { $0 + 320 + 3 * ($1.value?.byteCount ?? 0) }
        case .path(let path), .aggregate(let path, _, _): 256 * path.hops.count
        case .subquery(let subquery): 256 * subquery.path.hops.count + subquery.condition.bytes
        case .operation(_, let left, let right, _): 256 + left.bytes + right.bytes
        }
    }
}

extension GeoRegion {
    fileprivate var bytes: Int {
        switch self {
        case .circle: 64
        case .polygon(let loops): loops.reduce(64) { $0 + 64 + 16 * $1.count }
        }
    }
}
