internal import Changesets
internal import Foundation
internal import GRDB
internal import RealmState

/// The form in which a realm's file keeps its objects. In the first one, the bytes of keys had no order, and there were no rows of links.
struct FileForm {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// The form that this SDK writes.
    private static let newest: UInt64 = 2

    /// Whether objects can be read one by one, by key and in order.
    var isOrdered: Bool { get throws { try database.number("form") == Self.newest } }

    /// Brings a file to the newest form, in the transaction that the caller has open: whatever happens, the file has the one form or the
    /// other.
    func bringUpToDate() throws {
        let found = try database.number("form") ?? 1
        guard found != Self.newest else { return }
        guard found < Self.newest else {
            throw Realm.Error(
                .unsupportedFileFormatVersion,
                "a newer version of the SDK has written the realm's file: it has form \(found), this one knows \(Self.newest)"
            )
        }
        if try Bool.fetchOne(database, sql: "SELECT EXISTS(SELECT 1 FROM objects)") == true { try orderObjects() }
        try database.setNumber("form", Self.newest)
    }

    private func orderObjects() throws {
        let schema = try database.storedSchema()
        let order = DatabaseFunction("ordered_key", argumentCount: 1, pure: true) { values in
            guard let key = Data.fromDatabaseValue(values[0]) else { throw DamagedRow.key }
            return try ObjectKey(parsingDetached: [UInt8](key)).orderedEncoding()
        }
        database.add(function: order)
        defer { database.remove(function: order) }
        try database.execute(
            sql: """
                ALTER TABLE objects RENAME TO unordered_objects;
                \(ObjectRows.tables)
                INSERT INTO objects(class, key, value)
                SELECT class, ordered_key(key), value FROM unordered_objects ORDER BY 1, 2;
                DROP TABLE unordered_objects;
                """)
        let rows = ObjectRows(database)
        for table in schema.tables where table.mayHoldLinks { try rows.derive(of: table, links: true, columns: []) }
    }

    /// Loads all objects of a file of the first form that may not be written.
    func loadUnordered(into state: inout RealmState) throws {
        let rows = try Row.fetchCursor(database, sql: "SELECT class, key, value FROM objects")
        while let row = try rows.next() {
            guard let table = state.schema.table(TableID(rawValue: row[0])) else { continue }
            let key = try ObjectKey(parsingDetached: [UInt8](row[1] as Data))
            state.load(ObjectAddress(table.name, key), try StoredObject(decoding: [UInt8](row[2] as Data)))
        }
    }
}
