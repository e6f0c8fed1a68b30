package import Changesets
package import Documents
package import ExtendedJSON
import Query
import RealmState
package import Rules
package import Storage
package import SyncModel

/// Finds documents of one class in a stored realm, beside the realm's owner: what was committed when the search began.
package struct DocumentSearch: Sendable {
    /// The object of a search.
    package struct Wanted: Sendable {
        /// The primary key of the one document that is wanted; nil: what the filter selects.
        package var id: BSONValue?
        package var filter: BSONDocument
        /// A query in the language of subscriptions, in the filter's place.
        package var query: ByteString?
        package var sort: [SortField]
        /// The part to show of each document, as MongoDB writes it; nil: all.
        package var projection: BSONDocument?
        package var limit: Int
        /// Where the page before ended.
        package var after: SearchPlace?

        package init(
            id: BSONValue? = nil, filter: BSONDocument = [:], query: ByteString? = nil, sort: [SortField] = [],
            projection: BSONDocument? = nil, limit: Int = .max, after: SearchPlace? = nil
        ) {
            self.id = id
            self.filter = filter
            self.query = query
            self.sort = sort
            self.projection = projection
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
        package var next: SearchPlace?
        /// The objects that were looked at.
        package var examined = 0
    }

    let reader: any SliceReader
    let realm: RealmRecord
    let table: TableSchema
    let mapping: DocumentMapping
    let scope: SearchScope
    let budget: SearchBudget
    /// What the realm itself has met of the schema: nothing else is shown as part of documents.
    private let stored: (mapping: DocumentMapping, table: TableSchema)

    var limits: SearchLimits { budget.limits }
    var meter: EvaluationMeter { budget.meter }

    /// Searches a realm as it is at one moment.
    ///
    /// - Parameters:
    ///   - roles: of the user who searches, in an app in flexible mode; nil: all is seen.
    ///   - declared: the app's schema, for a search that is also of other realms: what this realm has not met of the class yet is as if it
    ///     were declared, with its default in every object. Nil: such a property is unknown.
    /// - Returns: nil if there is no such realm.
    /// - Throws: `DocumentError` for a class that has no documents.
    package static func run<Result>(
        in name: RealmName, of className: ByteString, reader: any SliceReader, as roles: ClosedRoles? = nil,
        declared: DeclaredSchema? = nil, within budget: SearchBudget = SearchBudget(),
        _ body: (DocumentSearch) async throws -> Result
    ) async throws -> Result? {
        try await reader.withSnapshot { snapshot in
            guard let record = try await snapshot.realm(name) else { return nil }
            return try await body(
                DocumentSearch(
                    in: record, of: className, reader: snapshot, as: roles, declared: declared, within: budget))
        }
    }

    /// - Throws: `DocumentError` for a class that has no documents.
    package init(
        in realm: RealmRecord, of className: ByteString, reader: any SliceReader, as roles: ClosedRoles? = nil,
        declared: DeclaredSchema? = nil, within budget: SearchBudget = SearchBudget()
    ) throws {
        self.reader = reader
        self.realm = realm
        self.budget = budget
        let own = DocumentMapping(schema: try realm.storedSchema())
        stored = (own, try own.table(className))
        let mapping = declared.map { DocumentMapping(schema: $0.schema(declaring: className, in: own.schema)) } ?? own
        let table = try mapping.table(className)
        scope = try SearchScope(roles, on: table, schema: mapping.schema, meter: budget.meter)
        self.mapping = mapping
        self.table = table
    }

    /// - Throws: `DocumentError`, also for a sorted search through too much.
    package func page(_ wanted: Wanted) async throws -> Page {
        let filter = try filter(wanted)
        let shown = try shown(wanted.projection)
        let order = wanted.sort.isEmpty ? nil : try order(wanted.sort)
        let way = try await way(filter, after: wanted.after)
        if let order { return try await sortedPage(way, wanted, by: order, shown) }
        var page = Page()
        var bytes = 0
        var last = wanted.after
        repeat {
            let stretch = try await read(way, after: last)
            for found in stretch.objects {
                page.examined += 1
                bytes += found.bytes
                guard try holds(filter, found) else { continue }
                page.documents.append(document(found, shown))
                if page.documents.count == wanted.limit {
                    page.next = found.place
                    return page
                }
            }
            last = stretch.end
        } while last != nil && bytes < limits.pageBytes && meter.steps < limits.pageSteps
        page.next = last
        return page
    }

    /// How many documents are selected.
    package func count(_ wanted: Wanted) async throws -> Int {
        let isAll = wanted.id == nil && wanted.query == nil && wanted.filter.isEmpty
        if isAll, scope.isEverything {
            return try await reader.countObjects(in: realm.id, of: table.id.rawValue, limit: .max)
        }
        let filter = try filter(wanted)
        var count = 0
        try await forEach(filter, try await way(filter)) { _ in
            count += 1
            return true
        }
        return count
    }

    /// The realm's version that is searched.
    package var version: UInt64 { realm.latest.version.rawValue }

    package var name: RealmName { realm.name }

    /// - Throws: `DocumentError` for what can never be searched for.
    package func check(_ wanted: Wanted) throws(DocumentError) {
        _ = try filter(wanted)
        _ = try shown(wanted.projection)
        _ = try order(wanted.sort)
    }

    // MARK: What is asked for

    /// What selects the documents.
    ///
    /// - Throws: `DocumentError`, also for a property that the user may not read.
    func filter(_ wanted: Wanted) throws(DocumentError) -> DocumentFilter {
        let filter =
            if let id = wanted.id {
                try DocumentFilter([table.key?.name ?? "": id], on: table, schema: mapping.schema)
            } else if let query = wanted.query {
                try DocumentFilter(query: query, on: table, schema: mapping.schema)
            } else {
                try DocumentFilter(wanted.filter, on: table, schema: mapping.schema)
            }
        try scope.requireReadable(filter.query.columns)
        return filter
    }

    /// Whether an object is selected.
    ///
    /// - Throws: `limit` if that takes too long.
    func holds(_ filter: DocumentFilter, _ found: Found) throws(DocumentError) -> Bool {
        guard let sees = scope.sees(found.object, found.row.key),
            let holds = sees ? filter.matches(found.object, key: found.row.key, meter: meter) : false
        else {
            throw DocumentError(
                .limit, "the search takes too long: \(meter.explanation ?? "there is too much to look at")")
        }
        return holds
    }

    // MARK: What is shown

    /// What is shown of documents.
    struct Shown {
        /// Columns that are not read.
        var hidden: Set<ColumnID>
        var projection: DocumentProjection?
    }

    func shown(_ projection: BSONDocument?) throws(DocumentError) -> Shown {
        guard let projection else { return Shown(hidden: scope.hidden) }
        let read = try DocumentProjection(projection, of: table, schema: mapping.schema)
        return Shown(hidden: read.hidden(of: table).union(scope.hidden), projection: read)
    }

    /// The document as it is told to somebody.
    func document(_ found: Found, _ shown: Shown) -> BSONDocument {
        let document = stored.mapping.document(
            of: found.object, key: found.row.key, stored.table, hiding: shown.hidden)
        return shown.projection?.applied(to: document) ?? document
    }

    /// The document as it is counted: with what the realm has not met yet.
    func whole(_ found: Found, hiding hidden: Set<ColumnID>) -> BSONDocument {
        mapping.document(of: found.object, key: found.row.key, table, hiding: hidden)
    }

    // MARK: Sorting

    private func sortedPage(
        _ way: Way, _ wanted: Wanted, by order: (Found, Found) -> Bool, _ shown: Shown
    ) async throws -> Page {
        guard wanted.after == nil else {
            throw DocumentError(.invalidWrite, "a sorted search has one page: ask for more at once, or without sort")
        }
        var best: [Found] = []
        var bytes = 0
        /// Keeps only the first so many.
        func trim() throws {
            best.sort(by: order)
            best.removeLast(max(0, best.count - wanted.limit))
            bytes = best.reduce(0) { $0 + $1.bytes }
            guard bytes <= limits.sortedBytes else {
                throw DocumentError(
                    .limit,
                    "expected at most \(limits.sortedBytes) bytes of objects to sort, came \(bytes): ask for fewer, or without sort"
                )
            }
        }
        let examined = try await forEach(try filter(wanted), way) { found in
            best.append(found)
            bytes += found.bytes
            if best.count - 1_000 >= 2 * min(wanted.limit, 1 << 30) || bytes > limits.sortedBytes { try trim() }
            return true
        }
        try trim()
        return Page(documents: best.map { document($0, shown) }, next: nil, examined: examined)
    }

    /// The column of a property; nil for the primary key, which is always shown.
    private func column(_ name: ByteString) throws(DocumentError) -> ColumnSchema? {
        if name == table.key?.name { return nil }
        guard let column = table.column(name) else {
            throw DocumentError(.unknownField, "\(table.name) has no property \(name)")
        }
        try scope.requireReadable(CollectionOfOne(column.id))
        return column
    }

    /// The order in which a sorted search has objects: by the properties, then by the primary key.
    private func order(_ fields: [SortField]) throws(DocumentError) -> (Found, Found) -> Bool {
        var columns: [(column: ColumnSchema?, isAscending: Bool)] = []
        for field in fields { columns.append((try column(field.name), field.isAscending)) }
        return { [columns] left, right in
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
