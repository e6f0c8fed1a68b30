package import Changesets
package import Query
import RealmState

/// An object of a result: its key, and what it holds.
package struct QueryRow: Sendable {
    package var key: ObjectKey
    package var object: any QueryObject

    package init(key: ObjectKey, object: any QueryObject) {
        self.key = key
        self.object = object
    }
}

extension Arrangement {
    /// Sorts, thins out and cuts the rows.
    package func applied(
        to rows: [QueryRow], of className: ByteString, in graph: (any QueryGraph)? = nil
    ) -> [QueryRow] {
        var rows = rows
        func values(_ keys: [Key], _ row: QueryRow) -> [KeyValue] {
            keys.map { KeyValue(value: $0.value(of: row.object, ObjectAddress(className, row.key), in: graph)) }
        }
        for step in steps {
            switch step {
            case .limit(let count): rows = Array(rows.prefix(count))
            case .sort(let keys):
                let sorted = rows.enumerated().map { (values(keys.map(\.key), $0.element), $0.offset, $0.element) }
                    .sorted { Self.precedes(($0.0, $0.1), ($1.0, $1.1), keys) }
                rows = sorted.map(\.2)
            case .distinct(let keys): rows = Self.distinct(rows) { values(keys, $0) }
            }
        }
        return rows
    }

    private static func precedes(
        _ left: ([KeyValue], Int), _ right: ([KeyValue], Int), _ keys: [SortKey]
    ) -> Bool {
        for (index, key) in keys.enumerated() {
            let order = left.0[index].compare(right.0[index])
            if order != 0 { return key.isAscending ? order < 0 : order > 0 }
        }
        return left.1 < right.1
    }

    /// Keeps the first of equal rows, and none that has no value because a link on the way is null.
    private static func distinct(_ rows: [QueryRow], _ values: (QueryRow) -> [KeyValue]) -> [QueryRow] {
        let keyed = rows.enumerated().map { (index: $0.offset, row: $0.element, values: values($0.element)) }
            .filter { !$0.values.contains { $0.value == nil } }
        func compare(_ left: [KeyValue], _ right: [KeyValue]) -> Int {
            for (left, right) in zip(left, right) {
                let order = left.compare(right)
                if order != 0 { return order }
            }
            return 0
        }
        let sorted = keyed.sorted {
            let order = compare($0.values, $1.values)
            return order == 0 ? $0.index < $1.index : order < 0
        }
        var kept: [(index: Int, row: QueryRow)] = []
        var last: [KeyValue]?
        for one in sorted {
            if let last, compare(last, one.values) == 0 { continue }
            kept.append((one.index, one.row))
            last = one.values
        }
        return kept.sorted { $0.index < $1.index }.map(\.row)
    }
}

/// What a row is sorted by; nil behind a null link, which comes last.
private struct KeyValue {
    var value: Value?

    func compare(_ other: KeyValue) -> Int {
        switch (value, other.value) {
        case (nil, nil): 0
        case (nil, _): 1
        case (_, nil): -1
        case (let left?, let right?): ValueOrder.total(left, right)
        }
    }
}
