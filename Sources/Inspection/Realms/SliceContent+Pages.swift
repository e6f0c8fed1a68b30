import Changesets
import RealmState
import Storage
import SyncModel

extension SliceContent {
    private static var pageBytes: Int { 1 << 20 }

    /// Visits the objects of a realm page by page, in the order in which they are stored.
    func forEachObjectPage(
        in realm: RealmID, _ body: ([(row: ObjectRow, body: [UInt8])]) async throws -> Void
    ) async throws {
        var last: ObjectRow?
        while true {
            let page = try await objects(in: realm, after: last, maxBytes: Self.pageBytes)
            guard let end = page.last else { return }
            try await body(page)
            last = end.row
        }
    }

    /// Visits the versions `after + 1 ... through` of a history page by page.
    ///
    /// - Returns: the last version there is; `after` if there is none.
    @discardableResult
    func forEachHistoryPage(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion,
        _ body: ([HistoryRecord]) async throws -> Void
    ) async throws -> ServerVersion {
        var last = after
        while last < through {
            let page = try await history(of: key, after: last, through: through, maxBytes: Self.pageBytes)
            guard let end = page.last else { break }
            try await body(page)
            last = end.version
        }
        return last
    }

    /// The stored bodies of those of the objects that exist.
    func objects(
        in realm: RealmID, at addresses: some Sequence<ObjectAddress>, _ schema: Schema
    ) async throws -> [ObjectAddress: [UInt8]] {
        var rows: [ObjectRow: ObjectAddress] = [:]
        for address in addresses {
            guard let table = schema.table(address.className)?.id else { continue }
            rows[ObjectRow(table: table.rawValue, key: address.key)] = address
        }
        let found = try await objects(in: realm, at: Array(rows.keys))
        return Dictionary(
            found.compactMap { row, body in rows[row].map { ($0, body) } }, uniquingKeysWith: { first, _ in first })
    }
}

extension RealmRecord {
    /// The realm's schema; an empty one before the first changeset.
    func storedSchema() throws(RealmStateError) -> Schema {
        schema.isEmpty ? Schema() : try Schema(decoding: schema)
    }
}

extension Schema {
    /// The address of a stored object; nil if the schema does not have its class.
    func address(of row: ObjectRow) -> ObjectAddress? {
        table(TableID(rawValue: row.table)).map { ObjectAddress($0.name, row.key) }
    }
}
