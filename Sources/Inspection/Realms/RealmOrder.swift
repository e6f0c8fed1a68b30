package import Storage
package import SyncModel

/// The property of realms by which lists are sorted.
package struct RealmOrder: Sendable, Equatable {
    package enum Key: String, Sendable, CaseIterable { case partition, version, historyBytes, slice }

    package var key: Key
    package var isDescending: Bool

    package init(_ key: Key, isDescending: Bool = false) {
        self.key = key
        self.isDescending = isDescending
    }

    /// Reads a key's name, with a hyphen before it for the other way round; nil if there is no such key.
    package init?(_ text: String) {
        let isDescending = text.hasPrefix("-")
        guard let key = Key(rawValue: String(isDescending ? text.dropFirst() : text[...])) else { return nil }
        self.init(key, isDescending: isDescending)
    }

    /// The names that a key may have.
    package static var names: String { Key.allCases.map(\.rawValue).joined(separator: ", ") }

    package func isBefore(_ left: RealmPlace, _ right: RealmPlace) -> Bool {
        let (first, second) = isDescending ? (right, left) : (left, right)
        switch key {
        case .version where first.version != second.version: return first.version < second.version
        case .historyBytes where first.historyBytes != second.historyBytes:
            return first.historyBytes < second.historyBytes
        case .slice where first.slice != second.slice: return first.slice < second.slice
        case .partition where first.partition != second.partition: return first.partition < second.partition
        default:
            return (left.app, left.partition) < (right.app, right.partition)
        }
    }
}

/// A realm as lists are sorted by it.
package struct RealmPlace: Sendable, Equatable {
    package var slice: SliceNumber
    package var app: String
    package var partition: String
    package var version: ServerVersion
    package var historyBytes: UInt64

    package init(_ record: RealmRecord, slice: SliceNumber) {
        self.init(
            slice: slice, app: record.name.app, partition: record.name.partition, version: record.latest.version,
            historyBytes: record.historyBytes)
    }

    package init(
        slice: SliceNumber, app: String, partition: String, version: ServerVersion, historyBytes: UInt64
    ) {
        self.slice = slice
        self.app = app
        self.partition = partition
        self.version = version
        self.historyBytes = historyBytes
    }

    /// Whether the partition has a text in it, in upper or lower case.
    package func contains(_ text: String?) -> Bool {
        guard let text, !text.isEmpty else { return true }
        return partition.lowercased().contains(text.lowercased())
    }
}
