package import Changesets
import Query
package import RealmState
import Rules

/// A way to the objects of a class that a view may have: no others are in the view, though not all that are found need be.
package enum ClassAccess: Equatable, Sendable {
    /// The objects of these keys, in the order of the keys' encodings.
    case keys([ObjectKey])
    /// The objects whose value of a property is in one of these ranges, which are in ascending order and apart from each other.
    case column(ColumnID, [OrderedBytes.Range])

    /// The property whose index the way goes by.
    package var column: ColumnID? { if case .column(let column, _) = self { column } else { nil } }

    /// The number of keys or ranges that the way has.
    package var count: Int {
        switch self {
        case .keys(let keys): keys.count
        case .column(_, let ranges): ranges.count
        }
    }

    /// Whether it leads to single values only.
    package var arePoints: Bool {
        switch self {
        case .keys: true
        case .column(_, let ranges): ranges.allSatisfy { $0.low == $0.high }
        }
    }

    /// The way that has all of two ways by one property; nil if they do not go by one property.
    package func shared(with other: ClassAccess) -> ClassAccess? {
        guard case .column(let column, let ranges) = self, case .column(column, let others) = other else { return nil }
        return .column(column, ValueRanges(union: ranges).intersection(ValueRanges(union: others)).ranges)
    }
}

extension View {
    /// The bytes of the sets and roles whose ways to objects nobody has asked for yet.
    package var unfoundBytes: Int {
        subscribed.reduce(0) {
            $0 + ($1.memo.hasAccesses ? 0 : ($1.shared?.text.count ?? 0) + $1.memo.origin.roles.utf8.count)
        }
    }

    /// Finds the ways to objects, for those who ask for them later.
    package func findAccesses() { for one in subscribed { _ = one.accesses } }

    /// Lets go of ways to objects that take much memory.
    package func forgetAccesses() {
        for one in subscribed where (one.shared?.text.count ?? 0) + one.memo.origin.roles.utf8.count > Self.largeBytes {
            one.memo.forgetAccesses()
            one.shared?.forgetNormalized()
        }
    }

    private static let largeBytes = 16 << 10
}

extension ClassView {
    /// All ways to what may be in the view; nil: nothing can be. Remembered from when they are first asked for.
    package var accesses: [ClassAccess]? { memo.accesses(foundAccesses) }

    private func foundAccesses() -> [ClassAccess]? {
        guard let shared, let role else { return nil }
        let (query, normalized) = (shared.query, shared.normalized)
        if case .constant(false) = normalized.condition { return nil }
        let maxCount = IndexedColumns.maxValueBytes
        var ranges = query.valueRanges(maxCount: maxCount)
        for (column, allowed) in role.visibleValues {
            let points = allowed.compactMap { Value($0, of: column) }.compactMap {
                OrderedBytes.of($0, maxCount: maxCount)
            }
            guard points.count == allowed.count else { continue }
            let seen = ValueRanges(points: points)
            ranges[column.id] = ranges[column.id].map { $0.intersection(seen) } ?? seen
        }
        var found: [ClassAccess] = []
        for equality in normalized.equalities where equality.property.slot == .key {
            let keys = equality.values.compactMap(ObjectKey.init)
            guard keys.count == equality.values.count else { continue }
            found.append(.keys(keys.sorted { $0.detachedEncoding().lexicographicallyPrecedes($1.detachedEncoding()) }))
            if keys.isEmpty { return nil }
        }
        for (column, values) in ranges.sorted(by: { $0.key < $1.key }) where isKept(column) {
            if values.ranges.isEmpty { return nil }
            found.append(.column(column, values.ranges))
        }
        return found
    }

    /// Whether the two queries look at one property of the class and at no other, and the role is the same.
    package func differsOnly(in column: ColumnID, from other: ClassView) -> Bool {
        role?.role == other.role?.role && query?.columns == [column] && other.query?.columns == [column]
    }

    /// Whether both have the same objects with the same properties. Queries are compared by their normal forms, which keep every digit: what clients
    /// write for them does not.
    package func selectsLike(_ other: ClassView) -> Bool {
        role?.role == other.role?.role && role?.hiddenColumns == other.role?.hiddenColumns
            && (shared === other.shared || shared?.normalized == other.shared?.normalized)
    }
}
