package import Changesets
import Documents
package import ExtendedJSON
import Query
import RealmState
package import Storage
import SyncModel

/// Finds documents of one class in a stored realm, beside the realm's owner: what was committed when the search began.
package struct DocumentSearch: Sendable {
    /// The objects that one page looks at, in bytes: a search for little in much is cut into pages that may be empty.
    static let pageBytes = 16 << 20
    /// What is read from the store at once.
    static let readBytes = 1 << 20
    /// The objects that a sorted search or a count looks at: they cannot be cut into pages.
    static let maxExamined = 5_000_000

    /// What to look for.
    package struct Wanted: Sendable {
        package var filter: BSONDocument
        package var sort: [SortField]
        /// The properties to show beside the primary key; nil: all.
        package var fields: [ByteString]?
        package var limit: Int
        /// The last object that the page before looked at.
        package var after: ObjectRow?

        package init(
            filter: BSONDocument = [:], sort: [SortField] = [], fields: [ByteString]? = nil, limit: Int,
            after: ObjectRow? = nil
        ) {
            self.filter = filter
            self.sort = sort
            self.fields = fields
            self.limit = limit
            self.after = after
        }
    }

    /// A property that documents are sorted by.
    package struct SortField: Sendable {
        package var name: ByteString
        package var isAscending: Bool

        package init(_ name: ByteString, isAscending: Bool) {
            self.name = name
            self.isAscending = isAscending
        }
    }

    package struct Page: Sendable {
        package var documents: [BSONDocument] = []
        /// Where the next page goes on; nil: there is nothing more.
        package var next: ObjectRow?
        /// The objects that were looked at.
        package var examined = 0
    }

    private let reader: any SliceReader
    private let realm: RealmRecord
    private let table: TableSchema
    private let mapping: DocumentMapping

    /// - Throws: `DocumentError` for a class that has no documents.
    package init(in realm: RealmRecord, of className: ByteString, reader: any SliceReader) throws {
        self.reader = reader
        self.realm = realm
        mapping = DocumentMapping(schema: try realm.storedSchema())
        table = try mapping.table(className)
    }

    /// - Throws: `DocumentError`, also for a sorted search through too many objects.
    package func page(_ wanted: Wanted) async throws -> Page {
        let filter = try DocumentFilter(wanted.filter, on: table, schema: mapping.schema)
        let columns = try wanted.fields.map { try $0.compactMap { try column($0)?.id } }
        if let keys = filter.keys { return try await page(of: keys, filter, wanted, columns) }
        guard wanted.sort.isEmpty else { return try await sortedPage(filter, wanted, columns) }
        var page = Page()
        var bytes = 0
        var last = wanted.after
        while true {
            let (objects, isLast) = try await read(after: last)
            for (row, object, size) in objects {
                page.examined += 1
                bytes += size
                last = row
                guard filter.matches(object, key: row.key) else { continue }
                page.documents.append(document(object, row.key, columns))
                if page.documents.count == wanted.limit {
                    page.next = row
                    return page
                }
            }
            if isLast { return page }
            if bytes >= Self.pageBytes {
                page.next = last
                return page
            }
        }
    }

    /// How many documents a filter selects.
    package func count(_ filter: BSONDocument) async throws -> Int {
        if filter.isEmpty {
            return try await reader.countObjects(in: realm.id, of: table.id.rawValue, limit: .max)
        }
        let filter = try DocumentFilter(filter, on: table, schema: mapping.schema)
        if let keys = filter.keys { return try await objects(at: keys, filter).count }
        var count = 0
        try await forEach { key, object in if filter.matches(object, key: key) { count += 1 } }
        return count
    }

    // MARK: Ways through the objects

    private func page(
        of keys: [ObjectKey], _ filter: DocumentFilter, _ wanted: Wanted, _ columns: [ColumnID]?
    ) async throws -> Page {
        var found = try await objects(at: keys, filter)
        try sort(&found, wanted.sort)
        if let after = wanted.after { found = Array(found.drop { $0.key <= after.key }) }
        var page = Page(examined: keys.count)
        page.documents = found.prefix(wanted.limit).map { document($0.object, $0.key, columns) }
        if found.count > wanted.limit, wanted.sort.isEmpty, wanted.limit > 0 {
            page.next = ObjectRow(table: table.id.rawValue, key: found[wanted.limit - 1].key)
        }
        return page
    }

    private func objects(
        at keys: [ObjectKey], _ filter: DocumentFilter
    ) async throws -> [(key: ObjectKey, object: StoredObject)] {
        let rows = Set(keys).map { ObjectRow(table: table.id.rawValue, key: $0) }
        let bodies = try await reader.objects(in: realm.id, at: rows)
        return try bodies.map { ($0.key, try StoredObject(decoding: $1)) }.filter {
            filter.matches($0.1, key: $0.0)
        }.sorted { $0.0 < $1.0 }
    }

    private func sortedPage(_ filter: DocumentFilter, _ wanted: Wanted, _ columns: [ColumnID]?) async throws -> Page {
        guard wanted.after == nil else {
            throw DocumentError(.invalidWrite, "a sorted search has one page: ask for more at once, or without sort")
        }
        var page = Page()
        var best: [(key: ObjectKey, object: StoredObject)] = []
        try await forEach { key, object in
            page.examined += 1
            guard filter.matches(object, key: key) else { return }
            best.append((key, object))
            // Only the first so many are kept, sorted now and then.
            if best.count >= 2 * wanted.limit + 1_000 {
                try sort(&best, wanted.sort)
                best.removeLast(best.count - wanted.limit)
            }
        }
        try sort(&best, wanted.sort)
        page.documents = best.prefix(wanted.limit).map { document($0.object, $0.key, columns) }
        return page
    }

    private func forEach(_ body: (ObjectKey, StoredObject) throws -> Void) async throws {
        var last: ObjectRow?
        var examined = 0
        while true {
            let (objects, isLast) = try await read(after: last)
            for (row, object, _) in objects { try body(row.key, object) }
            examined += objects.count
            guard examined <= Self.maxExamined else {
                throw DocumentError(
                    .limit, "expected at most \(Self.maxExamined) objects of \(table.name) to look through")
            }
            guard !isLast, let end = objects.last?.row else { return }
            last = end
        }
    }

    private func read(
        after last: ObjectRow?
    ) async throws -> (objects: [(row: ObjectRow, object: StoredObject, bytes: Int)], isLast: Bool) {
        let found = try await reader.objects(
            in: realm.id, of: table.id.rawValue, after: last, maxBytes: Self.readBytes)
        return (try found.map { ($0.row, try StoredObject(decoding: $0.body), $0.body.count) }, found.isEmpty)
    }

    // MARK: What is shown

    private func document(_ object: StoredObject, _ key: ObjectKey, _ columns: [ColumnID]?) -> BSONDocument {
        guard let columns else { return mapping.document(of: object, key: key, table) }
        let hidden = Set(table.columns.map(\.id)).subtracting(columns)
        return mapping.document(of: object, key: key, table, hiding: hidden)
    }

    /// The column of a property; nil for the primary key, which is always shown.
    private func column(_ name: ByteString) throws -> ColumnSchema? {
        if name == table.key?.name { return nil }
        guard let column = table.column(name) else {
            throw DocumentError(.unknownField, "\(table.name) has no property \(name)")
        }
        return column
    }

    private func sort(_ objects: inout [(key: ObjectKey, object: StoredObject)], _ fields: [SortField]) throws {
        let columns = try fields.map { (column: try column($0.name), isAscending: $0.isAscending) }
        objects.sort { left, right in
            for (column, isAscending) in columns {
                let order =
                    if let column {
                        ValueOrder.total(left.object[column], right.object[column])
                    } else {
                        left.key < right.key ? -1 : left.key == right.key ? 0 : 1
                    }
                if order != 0 { return (order < 0) == isAscending }
            }
            return left.key < right.key
        }
    }
}
