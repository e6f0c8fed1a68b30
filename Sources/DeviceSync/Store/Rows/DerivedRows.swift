internal import Changesets
internal import GRDB
internal import RealmState
internal import SQLiteStatements

/// The rows that are made of objects so that these can be found: by what they link to, and by the values of indexed properties.
///
/// They are written in the commit that writes the objects, so the two always fit. The old ones are found by the object as the file has it.
///
/// New ones are gathered and written in their own order: in that of the objects they would go to and fro between more pages than SQLite keeps in
/// memory.
final class DerivedRows {
    static let tables = """
        CREATE TABLE IF NOT EXISTS links(
            target BLOB NOT NULL, class INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY(target, class, key)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS indexed(
            class INTEGER NOT NULL, property INTEGER NOT NULL, value BLOB NOT NULL, key BLOB NOT NULL,
            PRIMARY KEY(class, property, value, key)) WITHOUT ROWID;
        """

    private let indexes: IndexedProperties
    private let select: RepeatedStatement
    private let deleteLink: RepeatedStatement
    private let insertLink: RepeatedStatement
    private let deleteValue: RepeatedStatement
    private let insertValue: RepeatedStatement

    /// A property of a class.
    private struct Column: Hashable {
        var table: TableID
        var column: ColumnID
    }
    /// A row to come, found by these bytes, for an object of a class.
    private struct Row {
        var bytes: [UInt8]
        var table: TableID
        var key: [UInt8]
    }

    private var links: [Row] = []
    private var values: [Column: [Row]] = [:]
    private var gathered = 0
    /// The kinds of rows of the class that was asked for last: most rows come class by class.
    private var last: (table: TableID, links: Bool, columns: [ColumnSchema])?
    /// So many rows are gathered at once.
    private static let limit = 50_000

    init(_ indexes: IndexedProperties, _ database: Database) throws {
        self.indexes = indexes
        select = try RepeatedStatement(database, "SELECT value FROM objects WHERE class = ? AND key = ?")
        deleteLink = try RepeatedStatement(database, "DELETE FROM links WHERE target = ? AND class = ? AND key = ?")
        insertLink = try RepeatedStatement(
            database, "INSERT OR IGNORE INTO links(target, class, key) VALUES(?, ?, ?)")
        deleteValue = try RepeatedStatement(
            database, "DELETE FROM indexed WHERE class = ? AND property = ? AND value = ? AND key = ?")
        insertValue = try RepeatedStatement(
            database, "INSERT OR IGNORE INTO indexed(class, property, value, key) VALUES(?, ?, ?, ?)")
    }

    /// Replaces the rows of an object. To be called before the object itself is written.
    /// - Parameters:
    ///   - object: nil for one that goes.
    ///   - isNew: whether the file has no object under the key.
    func replace(_ table: TableSchema, _ key: [UInt8], with object: StoredObject?, isNew: Bool = false) throws {
        let (links, columns) = kinds(of: table)
        guard links || !columns.isEmpty else { return }
        if isNew, let object { return try add(table, key, object, links: links, columns: columns) }
        if gathered >= Self.limit { try flush() }
        select.bind(1, table.id)
        select.bind(2, key)
        let old = try select.first { try StoredObject(decoding: $0.bytes(0)) }
        if links { try replaceLinks(table.id, key, old, object) }
        for column in columns { try replaceValue(table.id, column, key, old, object) }
    }

    /// What rows objects of a class have.
    private func kinds(of table: TableSchema) -> (links: Bool, columns: [ColumnSchema]) {
        if let last, last.table == table.id { return (last.links, last.columns) }
        let found = (table: table.id, links: table.mayHoldLinks, columns: indexes.columns(of: table))
        last = found
        return (found.links, found.columns)
    }

    /// The rows of an object that has none.
    func add(_ table: TableSchema, _ key: [UInt8], _ object: StoredObject, links: Bool, columns: [ColumnSchema]) throws
    {
        if gathered >= Self.limit { try flush() }
        if links { try replaceLinks(table.id, key, nil, object) }
        for column in columns { try replaceValue(table.id, column, key, nil, object) }
    }

    private func replaceLinks(_ table: TableID, _ key: [UInt8], _ old: StoredObject?, _ new: StoredObject?) throws {
        var before: Set<ObjectAddress> = []
        var after: Set<ObjectAddress> = []
        // Rows of values that belong to no property any more do no harm.
        old?.forEachLink { before.insert($0) }
        new?.forEachLink { after.insert($0) }
        for target in before.subtracting(after) {
            deleteLink.bind(1, Self.encoded(target))
            deleteLink.bind(2, table)
            deleteLink.bind(3, key)
            try deleteLink.run()
        }
        for target in after.subtracting(before) {
            links.append(Row(bytes: Self.encoded(target), table: table, key: key))
            gathered += 1
        }
    }

    /// Writes the rows that were gathered. To be called at the end.
    func flush() throws {
        for row in Self.ordered(links) {
            insertLink.bind(1, row.bytes)
            insertLink.bind(2, row.table)
            insertLink.bind(3, row.key)
            try insertLink.run()
        }
        for (column, rows) in values {
            for row in Self.ordered(rows) {
                try run(insertValue, column, row.bytes, row.key)
            }
        }
        links = []
        values = [:]
        gathered = 0
    }

    private func run(
        _ statement: RepeatedStatement, _ column: Column, _ value: [UInt8], _ key: [UInt8]
    ) throws {
        statement.bind(1, column.table)
        statement.bind(2, Int64(column.column.rawValue))
        statement.bind(3, value)
        statement.bind(4, key)
        try statement.run()
    }

    private static func ordered(_ rows: [Row]) -> [Row] {
        let keys = rows.map(\.bytes)
        let places = rows.indices.map { RowPlace($0, table: TableID(rawValue: 0), keys[$0]) }
        return places.sorted { $0.precedes($1, keys) }.map { rows[$0.position] }
    }

    private func replaceValue(
        _ table: TableID, _ column: ColumnSchema, _ key: [UInt8], _ old: StoredObject?, _ new: StoredObject?
    ) throws {
        let before = old.flatMap { Self.indexed($0[column]) }
        let after = new.flatMap { Self.indexed($0[column]) }
        guard before != after else { return }
        if let before {
            try run(deleteValue, Column(table: table, column: column.id), before, key)
        }
        if let after {
            values[Column(table: table, column: column.id), default: []].append(
                Row(bytes: after, table: table, key: key))
            gathered += 1
        }
    }

    /// The bytes of a value that the index has at most: of a longer value, it has the beginning.
    static let indexedBytes = 256

    private static func indexed(_ value: Value) -> [UInt8]? { OrderedBytes.of(value, maxCount: indexedBytes) }

    /// The class by name, as links have it, and the key.
    static func encoded(_ target: ObjectAddress) -> [UInt8] {
        var writer = VarintWriter()
        writer.write(lengthAnd: target.className)
        return writer.bytes + target.key.orderedBytes()
    }
}

extension RepeatedStatement {
    func bind(_ index: Int32, _ table: TableID) { bind(index, Int64(table.rawValue)) }
}

/// The properties by whose values a file finds objects.
struct IndexedProperties: Sendable, Equatable, Codable {
    /// Numbers of columns, by those of classes. Neither is ever given to another one.
    private var columns: [UInt32: [UInt32]] = [:]

    func contains(_ column: ColumnID, of table: TableID) -> Bool {
        columns[table.rawValue]?.contains(column.rawValue) ?? false
    }

    func columns(of table: TableSchema) -> [ColumnSchema] {
        guard let numbers = columns[table.id.rawValue] else { return [] }
        return table.columns.filter { numbers.contains($0.id.rawValue) }
    }

    mutating func insert(_ column: ColumnID, of table: TableID) {
        columns[table.rawValue, default: []].append(column.rawValue)
    }

    /// The declared ones that are not among these and that can be found by value, by class.
    func missing(from declared: [ObjectSchemaDescription], in schema: StoredSchema) -> [(TableSchema, [ColumnSchema])] {
        declared.compactMap { description in
            guard let table = schema.table(ByteString(description.name)), table.kind == .topLevel else { return nil }
            let missing = description.properties.filter(\.isIndexed)
                .compactMap { table.column(ByteString($0.name)) }
                .filter { $0.isIndexable && !contains($0.id, of: table.id) }
            return missing.isEmpty ? nil : (table, missing)
        }
    }
}

extension ColumnSchema {
    fileprivate var isIndexable: Bool {
        guard collection == .single else { return false }
        switch element.type {
        case .int, .bool, .string, .timestamp, .objectID, .uuid: return true
        default: return false
        }
    }
}
