import Logging
import Operations
import RealmState
import Storage
import SyncModel
import Views

/// Fills the indexes by which bootstraps find objects of flexible realms, as a job (`SliceJob`). How far that is, is in the realm's heading,
/// so that another owner goes on there.
struct IndexFilling: SlicePart {
    let work: SliceWork
    /// What one commit takes away of entries that are wrong.
    private static let removals = 2_000

    /// Takes one step.
    ///
    /// - Returns: whether there was anything to do.
    func step() async throws -> Bool {
        guard let name = work.memory.indexes.first else { return false }
        do {
            try await step(name)
        } catch {
            guard MessageHandler.isDamage(error) else { throw error }
            // Bootstraps go over all objects until the realm is next loaded.
            work.memory.indexes.end(name)
            logger.error(
                "a damaged realm's indexes cannot be filled",
                metadata: .about(name, ["error": "\(error)"]))
        }
        return true
    }

    private func step(_ name: RealmName) async throws {
        // The store has everything then that the entries are made of.
        try await work.flush()
        guard let context = try await work.storedRealm(name), context.indexed.isBehind else {
            return work.memory.indexes.end(name)
        }
        var indexed = context.indexed
        let realm = context.record.id
        if !indexed.isClean {
            let wrong = try await store.indexEntries(in: realm, after: nil, limit: Self.removals)
            if wrong.isEmpty { indexed.cleaned() }
            work.stage { if !wrong.isEmpty { $0.indexRemovals[realm] = Set(wrong) } }
        } else if let filling = indexed.fillingNext() {
            let rows = try await store.objects(
                in: realm, of: filling.table.rawValue,
                after: filling.after.map { ObjectRow(table: filling.table.rawValue, key: $0) },
                maxBytes: limits.indexStepBytes)
            let entries = try entries(of: rows, filling, indexed, in: context)
            work.stage { if !entries.isEmpty { $0.indexEntries[realm] = entries } }
            indexed.filled(through: rows.last?.row.key)
        }
        work.change(context).setIndexed(indexed)
        try await work.flush()
        guard !indexed.isBehind else { return }
        work.memory.indexes.end(name)
        logger.info(
            "a realm's indexes are filled", metadata: .about(name))
    }

    private func entries(
        of rows: [(row: ObjectRow, body: [UInt8])], _ filling: IndexedColumns.Filling, _ indexed: IndexedColumns,
        in context: RealmContext
    ) throws -> Set<IndexEntry> {
        guard let table = context.state.schema.table(filling.table) else { return [] }
        var entries: Set<IndexEntry> = []
        for (row, body) in rows {
            let object = try SliceWork.object(body, only: filling.columns, of: context.name)
            for (column, value) in indexed.values(of: object, in: table, filling.columns) {
                entries.insert(IndexEntry(row: row, column: column.rawValue, value: value))
            }
        }
        return entries
    }
}

/// The realms with which a job goes on, in the order in which it was begun. The others have their turn when they are next
/// loaded, or when it is begun again.
struct OpenRealms {
    private static let most = 1_000
    private var names: [RealmName] = []

    var isEmpty: Bool { names.isEmpty }
    var first: RealmName? { names.first }

    mutating func begin(_ name: RealmName) {
        if names.count < Self.most, !names.contains(name) { names.append(name) }
    }

    mutating func end(_ name: RealmName) { names.removeAll { $0 == name } }
}
