internal import Changesets
internal import Foundation
internal import GRDB
internal import RealmState
internal import SQLiteStatements
internal import Synchronization

/// The rows of a realm's objects.
extension RealmFile {
    static let objectSchema = """
        CREATE TABLE IF NOT EXISTS objects(
            class INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY(class, key)) WITHOUT ROWID;
        \(DerivedRows.tables)
        """

    private static let upsert = """
        INSERT INTO objects(class, key, value) VALUES(?, ?, ?)
        ON CONFLICT(class, key) DO UPDATE SET value = excluded.value
        """

    /// - Parameter schema: the classes as they are after the changes.
    static func write(
        _ changes: StateChanges, _ schema: StoredSchema, _ indexes: IndexedProperties, _ database: Database
    ) throws {
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
        let upsert = try RepeatedStatement(database, upsert)
        let keys = changes.upserted.map { $0.key.orderedBytes() }
        // In the order of the rows: those of a page are written one after the other.
        let places = changes.upserted.indices.map { RowPlace($0, table: changes.upserted[$0].table, keys[$0]) }
        for place in places.sorted(by: { $0.precedes($1, keys) }) {
            let (key, row) = (keys[place.position], changes.upserted[place.position])
            if let table = schema.table(row.table) {
                try derived.replace(table, key, with: row.object, isNew: row.isNew)
            }
            try put(upsert, row.table, key, row.object)
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
    static func write(all state: RealmState, _ database: Database) throws {
        let derived = try DerivedRows(IndexedProperties(), database)
        let upsert = try RepeatedStatement(database, upsert)
        for table in state.schema.tables where table.kind != .embedded {
            for (key, object) in state.cursor(of: table.name) {
                let key = key.orderedBytes()
                try derived.add(table, key, object, links: table.mayHoldLinks, columns: [])
                try put(upsert, table.id, key, object)
            }
        }
        try derived.flush()
    }

    // MARK: Forms of the file

    /// The form that this SDK writes. In the first one, the bytes of keys had no order, and there were no rows of links.
    private static let form: UInt64 = 2

    /// Whether objects can be read one by one, by key and in order.
    static func isOrdered(_ database: Database) throws -> Bool { try database.number("form") == form }

    /// Brings a file to this form, in the transaction that the caller has open: whatever happens, the file has the one form or the other.
    static func bringToForm(_ database: Database) throws {
        let found = try database.number("form") ?? 1
        guard found != form else { return }
        guard found < form else {
            throw Realm.Error(
                .unsupportedFileFormatVersion,
                "a newer version of the SDK has written the realm's file: it has form \(found), this one knows \(form)")
        }
        guard try Bool.fetchOne(database, sql: "SELECT EXISTS(SELECT 1 FROM objects)") == true else {
            return try database.setNumber("form", form)
        }
        let schema = try storedSchema(database)
        let order = DatabaseFunction("ordered_key", argumentCount: 1, pure: true) { values in
            guard let key = Data.fromDatabaseValue(values[0]) else { throw DamagedRow.key }
            return try ObjectKey(parsingDetached: [UInt8](key)).orderedEncoding()
        }
        database.add(function: order)
        defer { database.remove(function: order) }
        try database.execute(
            sql: """
                ALTER TABLE objects RENAME TO unordered_objects;
                \(objectSchema)
                INSERT INTO objects(class, key, value)
                SELECT class, ordered_key(key), value FROM unordered_objects ORDER BY 1, 2;
                DROP TABLE unordered_objects;
                """)
        for table in schema.tables where table.mayHoldLinks {
            try addRows(of: table, links: true, columns: [], database)
        }
        try database.setNumber("form", form)
    }

    /// Makes rows of all objects of a class.
    private static func addRows(
        of table: TableSchema, links: Bool, columns: [ColumnSchema], _ database: Database
    ) throws {
        let derived = try DerivedRows(IndexedProperties(), database)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT key, value FROM objects WHERE class = ?", arguments: [table.id.rawValue])
        while let row = try rows.next() {
            let object = try StoredObject(decoding: [UInt8](row[1] as Data))
            try derived.add(table, [UInt8](row[0] as Data), object, links: links, columns: columns)
        }
        try derived.flush()
    }

    // MARK: Indexes

    static func indexedProperties(_ database: Database) throws -> IndexedProperties {
        try database.meta("indexes", as: IndexedProperties.self) ?? IndexedProperties()
    }

    /// Whether properties are declared as indexed that have no index yet. A realm in memory needs none.
    func lacksIndexes(_ declared: [ObjectSchemaDescription], _ schema: StoredSchema) -> Bool {
        url != nil && !indexes.withLock { $0 }.missing(from: declared, in: schema).isEmpty
    }

    /// Indexes properties that are declared so, in one transaction; with the write lock held.
    func addIndexes(_ declared: [ObjectSchemaDescription], _ schema: StoredSchema) throws {
        var indexes = indexes.withLock { $0 }
        try write { database in
            for (table, columns) in indexes.missing(from: declared, in: schema) {
                try Self.addRows(of: table, links: false, columns: columns, database)
                for column in columns { indexes.insert(column.id, of: table.id) }
            }
            try database.setMeta("indexes", encoding: indexes)
        }
        self.indexes.withLock { $0 = indexes }
    }

    /// All objects of a file of the first form that may not be written.
    static func load(unordered database: Database, into state: inout RealmState) throws {
        let rows = try Row.fetchCursor(database, sql: "SELECT class, key, value FROM objects")
        while let row = try rows.next() {
            guard let table = state.schema.table(TableID(rawValue: row[0])) else { continue }
            let key = try ObjectKey(parsingDetached: [UInt8](row[1] as Data))
            state.load(ObjectAddress(table.name, key), try StoredObject(decoding: [UInt8](row[2] as Data)))
        }
    }
}
