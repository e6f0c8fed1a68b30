internal import Changesets
internal import Foundation
internal import GRDB
internal import RealmState
internal import SQLiteStatements

/// The rows of a realm's objects.
struct ObjectRows {
    static let tables = """
        CREATE TABLE IF NOT EXISTS objects(
            class INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY(class, key)) WITHOUT ROWID;
        \(DerivedRows.tables)
        """

    private static let upsert = """
        INSERT INTO objects(class, key, value) VALUES(?, ?, ?)
        ON CONFLICT(class, key) DO UPDATE SET value = excluded.value
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// - Parameter schema: the classes as they are after the changes.
    func write(_ changes: StateChanges, _ schema: StoredSchema, _ indexes: IndexedProperties) throws {
        for table in changes.erasedTables {
            for rows in ["objects", "links", "indexed"] {
                try database.execute(sql: "DELETE FROM \(rows) WHERE class = ?", arguments: [table.rawValue])
            }
        }
        let derived = try DerivedRows(indexes, database)
        let delete = try RepeatedStatement(database, "DELETE FROM objects WHERE class = ? AND key = ?")
        for erased in changes.erased {
            let key = erased.key.orderedBytes()
            if let table = schema.table(erased.table) { try derived.replace(table, key, with: nil) }
            delete.bind(1, erased.table)
            delete.bind(2, key)
            try delete.run()
        }
        let upsert = try RepeatedStatement(database, Self.upsert)
        let keys = changes.upserted.map { $0.key.orderedBytes() }
        // In the order of the rows: those of a page are written one after the other.
        let places = changes.upserted.indices.map { RowPlace($0, table: changes.upserted[$0].table, keys[$0]) }
        for place in places.sorted(by: { $0.precedes($1, keys) }) {
            let (key, row) = (keys[place.position], changes.upserted[place.position])
            if let table = schema.table(row.table) {
                try derived.replace(table, key, with: row.object, isNew: row.isNew)
            }
            try Self.put(upsert, row.table, key, row.object)
        }
        try derived.flush()
    }

    private static func put(
        _ upsert: RepeatedStatement, _ table: TableID, _ key: [UInt8], _ object: StoredObject
    ) throws {
        upsert.bind(1, table)
        upsert.bind(2, key)
        upsert.bind(3, object.encoded())
        try upsert.run()
    }

    /// Writes all objects of a state into a file that has none, one after the other.
    func write(all state: RealmState) throws {
        let derived = try DerivedRows(IndexedProperties(), database)
        let upsert = try RepeatedStatement(database, Self.upsert)
        for table in state.schema.tables where table.kind != .embedded {
            for (key, object) in state.cursor(of: table.name) {
                let key = key.orderedBytes()
                try derived.add(table, key, object, links: table.mayHoldLinks, columns: [])
                try Self.put(upsert, table.id, key, object)
            }
        }
        try derived.flush()
    }

    /// Makes the derived rows of all objects of a class.
    func derive(of table: TableSchema, links: Bool, columns: [ColumnSchema]) throws {
        let derived = try DerivedRows(IndexedProperties(), database)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT key, value FROM objects WHERE class = ?", arguments: [table.id.rawValue])
        while let row = try rows.next() {
            let object = try StoredObject(decoding: [UInt8](row[1] as Data))
            try derived.add(table, [UInt8](row[0] as Data), object, links: links, columns: columns)
        }
        try derived.flush()
    }
}
