package import SyncModel

/// One value of a stored row, as every engine can keep it.
package enum StoredValue: Hashable, Sendable {
    case null
    /// Booleans are 0 and 1.
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    /// About what it takes in memory.
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

/// A table of one part, whose rows can be told apart and put in order by its key.
package struct StoredTable: Hashable, Sendable {
    package var name: String
    package var columns: [String]
    package var key: [String]

    package init(name: String, columns: [String], key: [String]) {
        self.name = name
        self.columns = columns
        self.key = key
    }

    /// A row's values of the key.
    package func key(of row: [StoredValue]) -> [StoredValue] {
        key.compactMap { name in columns.firstIndex(of: name).map { row[$0] } }
    }
}

/// A store whose rows can be read as they are kept, part by part.
package protocol StoredTables: Sendable {
    /// Where it is, as an operator knows it.
    var place: String { get }
    /// The tables of a part, those that rest on others after them.
    func tables(of part: StorePart) async throws(StoreError) -> [StoredTable]
    /// The next rows by the table's key, with their values in the order of `columns`.
    func rows(
        of table: StoredTable, in part: StorePart, after key: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> [[StoredValue]]
}

/// A store that another one is copied into.
package protocol StoreCopyTarget: StoredTables {
    /// Notes that a cluster is being copied here, so that no process takes the store for a whole one.
    ///
    /// - Returns: whether such a copy had been begun before.
    /// - Throws: `alreadyExists` if there is anything else; `notFound` and `mismatch` if it cannot take rows.
    func beginCopy(of cluster: String) async throws(StoreError) -> Bool
    /// Makes a part's place ready.
    func prepare(_ part: StorePart) async throws(StoreError)
    /// The highest key of a table; nil if it has no row.
    func lastKey(of table: StoredTable, in part: StorePart) async throws(StoreError) -> [StoredValue]?
    func insert(_ rows: [[StoredValue]], into table: StoredTable, in part: StorePart) async throws(StoreError)
    /// Removes every row of a table.
    func clear(_ table: StoredTable, in part: StorePart) async throws(StoreError)
    /// Has the numbers that a part gives to new rows go on after the highest that is there.
    func finish(_ part: StorePart) async throws(StoreError)
    /// Lets processes use the store.
    func endCopy() async throws(StoreError)
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
