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
    /// What the objects may take that a sorted search holds.
    static let maxSortedBytes = 64 << 20
    /// Objects that are read by their keys at once.
    static let keysAtOnce = 16

    /// What to look for.
    package struct Wanted: Sendable {
        /// The primary key of the one document that is wanted; nil: what the filter selects.
        package var id: BSONValue?
        package var filter: BSONDocument
        package var sort: [SortField]
        /// The properties to show beside the primary key; nil: all.
        package var fields: [ByteString]?
        package var limit: Int
        /// The last object that the page before looked at.
        package var after: ObjectRow?

        package init(
            id: BSONValue? = nil, filter: BSONDocument = [:], sort: [SortField] = [], fields: [ByteString]? = nil,
            limit: Int, after: ObjectRow? = nil
        ) {
            self.id = id
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

    /// - Throws: `DocumentError`, also for a sorted search through too much.
    package func page(_ wanted: Wanted) async throws -> Page {
        let way = try way(wanted.id.map { [table.key?.name ?? "": $0] } ?? wanted.filter)
        let columns = try wanted.fields.map { try $0.compactMap { try column($0)?.id } }
        guard wanted.sort.isEmpty else { return try await sortedPage(way, wanted, columns) }
        var page = Page()
        var bytes = 0
        var last = wanted.after
        repeat {
            let stretch = try await read(way, after: last)
            for found in stretch.objects {
                page.examined += 1
                bytes += found.bytes
                guard way.filter.matches(found.object, key: found.row.key) else { continue }
                page.documents.append(document(found.object, found.row.key, columns))
                if page.documents.count == wanted.limit {
                    page.next = found.row
                    return page
                }
            }
            last = stretch.end
        } while last != nil && bytes < Self.pageBytes
        page.next = last
        return page
    }

    /// How many documents a filter selects.
    package func count(_ filter: BSONDocument) async throws -> Int {
        if filter.isEmpty {
            return try await reader.countObjects(in: realm.id, of: table.id.rawValue, limit: .max)
        }
        let way = try way(filter)
        var count = 0
        try await forEach(way) { _ in count += 1 }
        return count
    }

    // MARK: Ways through the objects

    /// A filter, and the objects that have to be looked at for it.
    private struct Way {
        var filter: DocumentFilter
        /// The keys of the objects, ascending; nil: all objects of the class.
        var keys: [ObjectKey]?
    }

    private struct Found {
        var row: ObjectRow
        var object: StoredObject
        var bytes: Int
    }

    /// Objects that were read at once, in the order of their keys.
    private struct Stretch {
        var objects: [Found]
        /// Where the next stretch goes on; nil: there is nothing more.
        var end: ObjectRow?
    }

    private func way(_ filter: BSONDocument) throws -> Way {
        let filter = try DocumentFilter(filter, on: table, schema: mapping.schema)
        return Way(filter: filter, keys: filter.keys.map { Set($0).sorted() })
    }

    private func read(_ way: Way, after last: ObjectRow?) async throws -> Stretch {
        guard let keys = way.keys else {
            let found = try await reader.objects(
                in: realm.id, of: table.id.rawValue, after: last, maxBytes: Self.readBytes)
            return Stretch(objects: try found.map { try self.found($0.row, $0.body) }, end: found.last?.row)
        }
        let rest = last.map { last in keys.drop { $0 <= last.key } } ?? keys[...]
        let rows = rest.prefix(Self.keysAtOnce).map { ObjectRow(table: table.id.rawValue, key: $0) }
        let bodies = try await reader.objects(in: realm.id, at: rows)
        return Stretch(
            objects: try rows.compactMap { row in try bodies[row].map { try found(row, $0) } },
            end: rows.count < rest.count ? rows.last : nil)
    }

    private func found(_ row: ObjectRow, _ body: [UInt8]) throws -> Found {
        Found(row: row, object: try StoredObject(decoding: body), bytes: body.count)
    }

    private func sortedPage(_ way: Way, _ wanted: Wanted, _ columns: [ColumnID]?) async throws -> Page {
        guard wanted.after == nil else {
            throw DocumentError(.invalidWrite, "a sorted search has one page: ask for more at once, or without sort")
        }
        let order = try order(wanted.sort)
        var best: [Found] = []
        var bytes = 0
        /// Keeps only the first so many.
        func trim() throws {
            best.sort(by: order)
            best.removeLast(max(0, best.count - wanted.limit))
            bytes = best.reduce(0) { $0 + $1.bytes }
            guard bytes <= Self.maxSortedBytes else {
                throw DocumentError(
                    .limit,
                    "expected at most \(Self.maxSortedBytes) bytes of objects to sort, came \(bytes): ask for fewer, or without sort"
                )
            }
        }
        let examined = try await forEach(way) { found in
            best.append(found)
            bytes += found.bytes
            if best.count >= 2 * wanted.limit + 1_000 || bytes > Self.maxSortedBytes { try trim() }
        }
        try trim()
        return Page(
            documents: best.map { document($0.object, $0.row.key, columns) }, next: nil, examined: examined)
    }

    /// Visits what a filter selects.
    ///
    /// - Returns: how many objects were looked at.
    @discardableResult private func forEach(_ way: Way, _ body: (Found) throws -> Void) async throws -> Int {
        var last: ObjectRow?
        var examined = 0
        repeat {
            let stretch = try await read(way, after: last)
            for found in stretch.objects where way.filter.matches(found.object, key: found.row.key) { try body(found) }
            examined += stretch.objects.count
            guard examined <= Self.maxExamined else {
                throw DocumentError(
                    .limit, "expected at most \(Self.maxExamined) objects of \(table.name) to look through")
            }
            last = stretch.end
        } while last != nil
        return examined
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

    /// The order in which a sorted search has objects: by the properties, then by the primary key.
    private func order(_ fields: [SortField]) throws -> (Found, Found) -> Bool {
        let columns = try fields.map { (column: try column($0.name), isAscending: $0.isAscending) }
        return { left, right in
            for (column, isAscending) in columns {
                let order =
                    if let column {
                        ValueOrder.total(left.object[column], right.object[column])
                    } else {
                        left.row.key < right.row.key ? -1 : left.row.key == right.row.key ? 0 : 1
                    }
                if order != 0 { return (order < 0) == isAscending }
            }
            return left.row.key < right.row.key
        }
    }
}
