import Changesets

extension ObjectQuery {
    /// Checks that the query may stand in a subscription or rule: that an object alone decides whether it is selected. What depends on
    /// other objects, or on which others are selected, could change for an object that nobody touched.
    package func checkSubscription(limits: QueryLimits = QueryLimits()) throws(QueryError) {
        guard arrangement.isEmpty else {
            throw QueryError(
                .subscription, "a subscription to \"\(className)\" cannot contain SORT, DISTINCT or LIMIT", at: 0)
        }
        let count = condition.comparisonCount
        guard count <= limits.comparisons else {
            throw QueryError(
                .limit,
                "a subscription to \"\(className)\" may have an object compared \(limits.comparisons) times, found \(count) comparisons: property IN {...} is one",
                at: 0)
        }
        try SubscriptionCheck(className: className).check(condition)
    }
}

private struct SubscriptionCheck {
    let className: ByteString

    func check(_ condition: Condition) throws(QueryError) {
        switch condition {
        case .constant: break
        case .all(let parts), .any(let parts): for part in parts { try check(part) }
        case .not(let part): try check(part)
        case .comparison(let comparison): try check(comparison)
        case .member(let membership): try check(membership.path)
        case .bounds(let low, let high):
            try check(low)
            try check(high)
        case .between(let path, _, _), .geoWithin(let path, _, _): try check(path)
        case .fullText(let path, _, _): throw refused("TEXT", path)
        }
    }

    private func check(_ comparison: Comparison) throws(QueryError) {
        try check(comparison.left)
        try check(comparison.right)
    }

    private func check(_ side: Side) throws(QueryError) {
        switch side {
        case .constant, .list: break
        case .path(let path): try check(path)
        case .aggregate(let path, let function, let field):
            if field != nil, path.hops.last?.isEmbedded != true {
                throw refused("\(function.rawValue) of linked objects", path)
            }
            try check(path)
        case .subquery(let subquery):
            guard subquery.path.hops.last?.isEmbedded == true else {
                throw refused("SUBQUERY over linked objects", subquery.path)
            }
            try check(subquery.path)
            try check(subquery.condition)
        case .operation(_, let left, let right, _):
            try check(left)
            try check(right)
        }
    }

    private func check(_ path: QueryPath) throws(QueryError) {
        if path.end == .backlinkCount { throw refused("@links", path) }
        for (index, hop) in path.hops.enumerated() {
            guard case .link = hop.kind else { throw refused("@links", path) }
            // A link itself is stored with the object, what is behind it is not.
            let isLast = index == path.hops.count - 1 && path.end == .objects
            guard hop.isEmbedded || isLast else { throw refused("properties of linked objects", path) }
        }
    }

    private func refused(_ construct: String, _ path: QueryPath) -> QueryError {
        QueryError(
            .subscription,
            "a subscription to \"\(className)\" cannot contain \(construct): \"\(CanonicalText.path(path))\" depends on other objects",
            at: path.place.offset)
    }
}
