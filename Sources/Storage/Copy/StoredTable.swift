package import SyncModel

/// One value of a stored row, as every engine can keep it.
package enum StoredValue: Hashable, Sendable {
    case null
    /// Booleans are 0 and 1.
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    /// The bytes that the value takes in memory, roughly.
    package var size: Int {
        switch self {
        case .text(let text): 16 + text.utf8.count
        case .bytes(let bytes): 16 + bytes.count
        default: 16
        }
    }
}

/// A part of a store: each has tables of its own.
package enum StorePart: Hashable, Sendable, CustomStringConvertible {
    case control
    case slice(SliceNumber)

    package var description: String {
        switch self {
        case .control: "control"
        case .slice(let slice): "slice \(slice)"
        }
    }
}

/// A table of one part, with the columns that every engine has.
package struct StoredTable: Hashable, Sendable {
    package var name: String
    package var columns: [String]

    package init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }
}

/// Some rows of a table, and where the next ones begin.
package struct StoredPage: Sendable {
    /// The values in the order of the table's columns.
    package var rows: [[StoredValue]]
    /// The place after which the engine goes on; nil if there are no more rows.
    package var end: [StoredValue]?

    package init(rows: [[StoredValue]], end: [StoredValue]?) {
        self.rows = rows
        self.end = end
    }
}

/// A store whose rows can be read as they are kept, part by part.
package protocol StoredTables: Sendable {
    /// Where it is, as an operator knows it.
    var place: String { get }
    func tables(of part: StorePart) async throws(StoreError) -> [StoredTable]
    /// The next rows, in an order of the engine's.
    func page(
        of table: StoredTable, in part: StorePart, after end: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> StoredPage
}

/// A store that another one is copied into.
package protocol StoreCopyTarget: StoredTables {
    /// Notes that a cluster is being copied here, so that no process takes the store for a whole one.
    ///
    /// - Returns: the parts that such a copy has finished before; nil if this is the first time.
    /// - Throws: `alreadyExists` if there is anything else; `notFound` and `mismatch` if it cannot take rows.
    func beginCopy(of cluster: String) async throws(StoreError) -> Set<StorePart>?
    /// Makes a part's place, empty.
    func prepare(_ part: StorePart) async throws(StoreError)
    func insert(_ rows: [[StoredValue]], into table: StoredTable, in part: StorePart) async throws(StoreError)
    /// Removes every row of a table.
    func clear(_ table: StoredTable, in part: StorePart) async throws(StoreError)
    /// Notes that a part has everything.
    func finish(_ part: StorePart) async throws(StoreError)
    /// Lets processes use the store.
    func endCopy() async throws(StoreError)
}

/// The settings of a store that say that it is an unfinished copy.
package enum CopyMark {
    /// The name of the setting that says which cluster's store is copied.
    package static let cluster = "copy"
    private static let donePrefix = "copy.done."

    package static func done(_ part: StorePart) -> String { "\(donePrefix)\(part)" }
    package static func isMark(_ setting: String) -> Bool { setting == cluster || setting.hasPrefix(donePrefix) }

    package static func parts(doneBy settings: some Sequence<String>) -> Set<StorePart> {
        settings.reduce(into: []) { parts, setting in
            guard setting.hasPrefix(donePrefix) else { return }
            let name = setting.dropFirst(donePrefix.count)
            if let number = name.split(separator: " ").last.flatMap({ Int($0) }) {
                parts.insert(.slice(SliceNumber(number)))
            }
        }
    }
}

extension StoreError {
    /// What a process, and every command but another copy, says of a store that a copy was begun into.
    package static func unfinishedCopy(of cluster: String, at place: String) -> StoreError {
        StoreError(
            .mismatch,
            "the store at \(place) is an unfinished copy of cluster \(cluster): run the same sluice store copy again, which goes on where it stopped"
        )
    }
}
