package import RealmState

extension Condition {
    /// Visits every path that begins at the object itself, not those inside subqueries.
    func forEachOwnPath(_ body: (QueryPath) -> Void) {
        switch self {
        case .constant: break
        case .all(let parts), .any(let parts): for part in parts { part.forEachOwnPath(body) }
        case .not(let part): part.forEachOwnPath(body)
        case .comparison(let comparison):
            comparison.left.forEachOwnPath(body)
            comparison.right.forEachOwnPath(body)
        case .member(let membership): body(membership.path)
        case .bounds(let low, let high):
            for side in [low.left, high.left] { side.forEachOwnPath(body) }
        case .between(let path, _, _), .fullText(let path, _, _), .geoWithin(let path, _, _): body(path)
        }
    }
}

extension Condition {
    /// Visits the conditions that are no chains of others, in the order of the text.
    func forEachLeaf(_ body: (Condition) -> Void) {
        switch self {
        case .all(let parts), .any(let parts): for part in parts { part.forEachLeaf(body) }
        case .not(let part): part.forEachLeaf(body)
        default: body(self)
        }
    }
}

extension Side {
    func forEachOwnPath(_ body: (QueryPath) -> Void) {
        switch self {
        case .constant, .list: break
        case .path(let path), .aggregate(let path, _, _): body(path)
        case .subquery(let subquery): body(subquery.path)
        case .operation(_, let left, let right, _):
            left.forEachOwnPath(body)
            right.forEachOwnPath(body)
        }
    }
}

extension QueryPath {
    /// The property of the object itself that the path begins with; nil for one that begins with a backlink.
    var ownStart: QueryProperty? {
        if let first = hops.first {
            if case .link(let property) = first.kind { return property }
            return nil
        }
        return switch end {
        case .property(let property, _), .keys(let property), .elementLengths(let property): property
        case .objects, .backlinkCount: nil
        }
    }
}

extension Condition {
    /// The properties of the class itself that the condition looks at.
    package var ownProperties: Set<QueryProperty> {
        var result: Set<QueryProperty> = []
        forEachOwnPath { path in
            if let property = path.ownStart { result.insert(property) }
        }
        return result
    }

    /// The columns of `ownProperties`, in ascending order; the primary key has none.
    package var ownColumns: [ColumnID] {
        ownProperties.compactMap { if case .column(let column) = $0.slot { column } else { nil } }.sorted()
    }
}
