import Changesets
package import RealmState
import Rules

/// A property that must have one of some values for an object to be in a view: by it the views that an object concerns are found, and
/// the objects that a view selects.
package struct ViewAnchor: Hashable, Sendable {
    /// Nil: the key.
    package var column: ColumnID?
    /// Each once. None: nothing is in the view.
    package var values: [Value]

    /// The one with the fewest values that a query or a role gives; nil if there is none, or if those are many.
    init?(_ query: ViewQuery, _ role: TableRole) {
        guard var found = query.anchors else {
            self.init(column: nil, values: [])
            return
        }
        for (column, allowed) in role.visibleValues {
            let values = allowed.compactMap { Value($0, of: column) }
            guard values.count == allowed.count else { continue }
            found.append(ViewAnchor(column: column.id, values: Array(Set(values))))
        }
        guard let best = found.min(by: { $0.values.count < $1.values.count }) else { return nil }
        self = best
    }

    init(column: ColumnID?, values: [Value]) {
        self.column = column
        self.values = values
    }
}

extension Value {
    /// The one value of a property that rules take for this one; nil if there may be others, or none.
    init?(_ value: RuleValue, of column: ColumnSchema) {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch (value, column.element.type) {
        // Rules see this mark in a string that is no UTF-8.
        case (.string(let text), .string) where !text.unicodeScalars.contains("\u{FFFD}"):
            self = .string(ByteString(text))
        case (.bool(let flag), .bool): self = .bool(flag)
        case (.objectID(let bytes), .objectID) where bytes.count == 12:
            self = .objectID(
                ObjectIDValue(
                    high: number(bytes.prefix(8)), low: UInt32(truncatingIfNeeded: number(bytes.dropFirst(8)))))
        case (.uuid(let bytes), .uuid) where bytes.count == 16:
            self = .uuid(UUIDValue(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8))))
        default: return nil
        }
    }
}
