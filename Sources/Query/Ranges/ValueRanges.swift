package import RealmState

/// Ranges of `OrderedBytes` in which a property's value has to be for a condition to hold: in ascending order, apart from each other. Not all
/// that is in them need meet the condition.
package struct ValueRanges: Hashable, Sendable {
    package typealias Range = OrderedBytes.Range

    package private(set) var ranges: [Range]

    /// Whether there are single values only.
    package var arePoints: Bool { ranges.allSatisfy { $0.low == $0.high } }

    init(_ range: Range) { ranges = range.high.lexicographicallyPrecedes(range.low) ? [] : [range] }

    /// - Parameter points: bytes of values.
    package init(points: some Sequence<[UInt8]>) {
        ranges = Set(points).sorted { $0.lexicographicallyPrecedes($1) }.map { Range(low: $0, high: $0) }
    }

    package func intersection(_ other: ValueRanges) -> ValueRanges {
        var result = ValueRanges(points: [])
        var (mine, theirs) = (ranges[...], other.ranges[...])
        while let left = mine.first, let right = theirs.first {
            let low = left.low.lexicographicallyPrecedes(right.low) ? right.low : left.low
            let high = left.high.lexicographicallyPrecedes(right.high) ? left.high : right.high
            if !high.lexicographicallyPrecedes(low) { result.ranges.append(Range(low: low, high: high)) }
            if left.high == high { mine = mine.dropFirst() }
            if right.high == high { theirs = theirs.dropFirst() }
        }
        return result
    }

    /// - Parameter all: in any order, and across each other.
    package init(union all: [Range]) {
        ranges = []
        for range in all.sorted(by: { $0.low.lexicographicallyPrecedes($1.low) }) {
            if let last = ranges.indices.last, !ranges[last].high.lexicographicallyPrecedes(range.low) {
                if ranges[last].high.lexicographicallyPrecedes(range.high) { ranges[last].high = range.high }
            } else {
                ranges.append(range)
            }
        }
    }
}

extension ObjectQuery {
    /// The ranges in which a value has to be, by column of the class itself: of columns that the query compares with constants by equality,
    /// IN or order, in such a way that it selects nothing else.
    ///
    /// - Parameter maxCount: of a value's bytes.
    package func valueRanges(maxCount: Int) -> [ColumnID: ValueRanges] { condition.valueRanges(maxCount) }
}

extension Condition {
    fileprivate func valueRanges(_ maxCount: Int) -> [ColumnID: ValueRanges] {
        switch self {
        case .all(let parts):
            var all: [ColumnID: [ValueRanges]] = [:]
            for part in parts {
                for (column, ranges) in part.valueRanges(maxCount) { all[column, default: []].append(ranges) }
            }
            // The short ones first, so that no long one is gone over again and again.
            return all.compactMapValues { ranges in
                let sorted = ranges.sorted { $0.ranges.count < $1.ranges.count }
                return sorted.first.map { sorted.dropFirst().reduce($0) { $0.intersection($1) } }
            }
        case .any(let parts):
            // What every part restricts.
            var columns: Set<ColumnID>?
            var all: [ColumnID: [ValueRanges.Range]] = [:]
            for part in parts {
                let found = part.valueRanges(maxCount)
                let both = columns?.intersection(found.keys) ?? Set(found.keys)
                if both.isEmpty { return [:] }
                for (column, ranges) in found where both.contains(column) { all[column, default: []] += ranges.ranges }
                columns = both
            }
            let restricted = columns ?? []
            return all.filter { restricted.contains($0.key) }.mapValues { ValueRanges(union: $0) }
        case .bounds(let low, let high):
            return Condition.all([.comparison(low), .comparison(high)]).valueRanges(maxCount)
        case .comparison(let comparison):
            guard comparison.isDirect, !comparison.ignoresCase, case .path(let path) = comparison.left,
                let property = path.ownProperty, let value = comparison.right.singleConstant?.value,
                let range = property.range(comparison.op, value, maxCount)
            else { return [:] }
            return property.restricted(to: ValueRanges(range))
        case .between(let path, let low, let high):
            guard let property = path.ownProperty, let low = low.value, let high = high.value,
                let above = property.range(.greaterOrEqual, low, maxCount),
                let below = property.range(.lessOrEqual, high, maxCount)
            else { return [:] }
            return property.restricted(to: ValueRanges(above).intersection(ValueRanges(below)))
        case .member(let membership):
            guard let property = membership.path.ownProperty else { return [:] }
            let points = membership.values.map { property.range(.equal, $0, maxCount)?.low }
            guard points.allSatisfy({ $0 != nil }) else { return [:] }
            return property.restricted(to: ValueRanges(points: points.compactMap(\.self)))
        case .constant, .not, .fullText, .geoWithin: return [:]
        }
    }
}

extension QueryProperty {
    fileprivate func restricted(to ranges: ValueRanges) -> [ColumnID: ValueRanges] {
        if case .column(let column) = slot { [column: ranges] } else { [:] }
    }

    /// Where a value has to be to compare so with a constant of the property's own type. To null only equality is looked at.
    fileprivate func range(_ op: ComparisonOperator, _ constant: Value, _ maxCount: Int) -> ValueRanges.Range? {
        guard !isCollection, type.hasOrderedBytes, let bytes = OrderedBytes.of(constant, maxCount: maxCount) else {
            return nil
        }
        let isNull = constant == .null
        // Null is less than every string.
        let least = type == .string ? OrderedBytes.least : OrderedBytes.leastValue
        return switch op {
        case .equal, .member: ValueRanges.Range(low: bytes, high: bytes)
        case .less, .lessOrEqual: isNull ? nil : ValueRanges.Range(low: least, high: bytes)
        case .greater, .greaterOrEqual: isNull ? nil : ValueRanges.Range(low: bytes, high: OrderedBytes.greatest)
        case .notEqual, .beginsWith, .endsWith, .contains, .like: nil
        }
    }
}

extension QueryType {
    /// Whether values of the type have `OrderedBytes`.
    package var hasOrderedBytes: Bool {
        switch self {
        case .int, .bool, .string, .binary, .timestamp, .float, .double, .objectID, .uuid: true
        default: false
        }
    }
}
