import Changesets
package import Query
import RealmState
import Synchronization

/// A class's query of a subscription set, read and checked once for all views that have it.
package final class ViewQuery: Sendable {
    package let query: ObjectQuery
    /// The query's text as it was asked for.
    let text: ByteString
    /// What an object must equal to be selected, as far as few values do; nil: the query selects nothing.
    let anchors: [ViewAnchor]?

    /// More values than this are no way to tell whom an object concerns: to look into the query's own list takes no longer, and no memory.
    private static let mostValues = 64

    /// The bytes that the query takes in memory, about.
    package let bytes: Int

    private let known = Mutex<NormalizedQuery?>(nil)

    /// The query in its normal form, remembered from when it is first asked for.
    var normalized: NormalizedQuery {
        known.withLock { known in
            if let known { return known }
            let made = NormalizedQuery(query)
            known = made
            return made
        }
    }

    func forgetNormalized() { known.withLock { $0 = nil } }

    /// A query that takes more than this is held in its normal form if that takes less.
    private static let largeBytes = 64 << 10

    init(_ query: ObjectQuery, text: ByteString) {
        self.text = text
        let normalized = NormalizedQuery(query)
        let slim = query.bytes > Self.largeBytes ? query.normalized(normalized) : query
        self.query = slim.bytes < query.bytes ? slim : query
        bytes = 256 + text.count + self.query.bytes
        if case .constant(false) = normalized.condition {
            anchors = nil
        } else {
            anchors = normalized.equalities.filter { $0.values.count <= Self.mostValues }.map { equality in
                switch equality.property.slot {
                case .key: ViewAnchor(column: nil, values: equality.values)
                case .column(let column): ViewAnchor(column: column, values: equality.values)
                }
            }
        }
    }
}

/// The queries of the views that somebody holds: equal ones are one. Each is forgotten with its last view.
package struct ViewQueries: Sendable {
    private struct Key: Hashable {
        var className: ByteString
        var hash: Int
        /// The version of the clients' schema.
        var version: UInt64?
    }

    private struct Held: Sendable {
        weak var query: ViewQuery?
    }

    private var held: [Key: [Held]] = [:]
    /// The classes as queries see them, and the state of the schema that they are of, by the clients' version.
    private var schemas: [UInt64?: (columns: Int, schema: QuerySchema)] = [:]
    /// How many there may be before those are looked for that nobody holds any more.
    private var patience = 64

    package init() {}

    /// The queries that somebody holds.
    package var all: [ViewQuery] { held.values.flatMap { $0.compactMap(\.query) } }

    /// - Parameter read: reads and checks a query that nobody holds.
    mutating func query<Failure>(
        _ text: ByteString, on className: ByteString, version: UInt64?,
        read: () throws(Failure) -> ViewQuery
    ) throws(Failure) -> ViewQuery {
        let key = Key(className: className, hash: text.hashValue, version: version)
        for known in held[key] ?? [] { if let query = known.query, query.text == text { return query } }
        let query = try read()
        if held.count >= patience { trim() }
        held[key, default: []].removeAll { $0.query == nil }
        held[key, default: []].append(Held(query: query))
        return query
    }

    /// - Parameter stored: the realm's schema, which only grows; the visible one follows from it and the version.
    mutating func schema(_ visible: Schema, of stored: Schema, version: UInt64?) -> QuerySchema {
        let columns = stored.tables.reduce(stored.tables.count) { $0 &+ Int($1.nextColumnID) }
        if let known = schemas[version], known.columns == columns { return known.schema }
        let schema = QuerySchema(visible)
        schemas[version] = (columns, schema)
        return schema
    }

    /// Takes in what a view was made with elsewhere.
    package mutating func adopt(_ view: View, of others: ViewQueries) {
        for (version, schema) in others.schemas where schema.columns > schemas[version]?.columns ?? 0 {
            schemas[version] = schema
        }
        for part in view.classes.values {
            guard let query = part.shared else { continue }
            _ = self.query(query.text, on: query.query.className, version: view.version) { () throws(Never) in query }
        }
    }

    private mutating func trim() {
        held = held.compactMapValues { queries in
            let living = queries.filter { $0.query != nil }
            return living.isEmpty ? nil : living
        }
        patience = max(64, 2 * held.count)
    }
}
