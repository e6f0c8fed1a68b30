import Changesets
package import Documents
package import ExtendedJSON
import Query
import RealmState
import Storage
import SyncModel
import Views

/// How a search goes about it, without doing it.
package struct SearchExplanation: Encodable, Sendable, Equatable {
    package var className: String
    /// The realm's version that is searched.
    package var version: UInt64
    /// The query that selects the documents.
    package var query: String
    /// `key`, `index` or `class`: by which way objects are found.
    package var way: String
    /// The property whose index is gone by.
    package var index: String?
    /// How many objects are looked at, by what the index has of them; of more than 100,000 only that.
    package var examined: Int
    /// The objects of the class, as far as they are not more than a million.
    package var objects: Int
    /// The properties that could be searched by an index.
    package var indexed: [String]
    /// The role of the user who searches; absent for an operator, and for a user who has none.
    package var role: String?
    /// Properties that the role hides.
    package var hidden: [String]

    fileprivate enum CodingKeys: String, CodingKey {
        case className = "class"
        case version, query, way, index, examined, objects, indexed, role, hidden
    }
}

extension DocumentSearch {
    /// Tells everything that is selected, in parts.
    ///
    /// - Returns: how many documents that were.
    package func all(_ wanted: Wanted, tell: ([BSONDocument]) async throws -> Void) async throws -> Int {
        guard wanted.sort.isEmpty else {
            let page = try await page(wanted)
            try await tell(page.documents)
            return page.documents.count
        }
        let filter = try filter(wanted)
        let shown = try shown(wanted.projection)
        var part: [BSONDocument] = []
        var (count, bytes) = (0, 0)
        try await forEach(filter, try await way(filter)) { found in
            guard count < wanted.limit else { return false }
            part.append(document(found, shown))
            count += 1
            bytes += found.bytes
            if bytes >= limits.readBytes || count == wanted.limit {
                try await tell(part)
                (part, bytes) = ([], 0)
            }
            return count < wanted.limit
        }
        if !part.isEmpty { try await tell(part) }
        return count
    }

    /// Takes in the values that a field has in what is selected.
    package func distinct(_ wanted: Wanted, into values: inout DistinctValues) async throws {
        let filter = try filter(wanted)
        try values.check(in: table, schema: mapping.schema)
        let column = table.column(values.property)?.id
        try scope.requireReadable([column].compactMap(\.self))
        let hidden = Set(table.columns.map(\.id).filter { $0 != column })
        try await forEach(filter, try await way(filter)) { found in
            try values.take(whole(found, hiding: hidden))
            return true
        }
    }

    /// Takes what the first stage of an aggregation selects through the others.
    package func aggregate(_ pipeline: Pipeline, into run: inout PipelineRun) async throws {
        let filter = try filter(Wanted(filter: pipeline.filter))
        var hidden = scope.hidden
        if let fields = pipeline.fields {
            hidden.formUnion(table.columns.filter { !fields.contains($0.name) }.map(\.id))
        }
        guard run.wantsMore else { return }
        try await forEach(filter, try await way(filter)) { found in
            try run.take(whole(found, hiding: hidden))
            return run.wantsMore
        }
    }

    /// Says how a search goes about it.
    package func explain(_ wanted: Wanted) async throws -> SearchExplanation {
        let filter = try filter(wanted)
        let way = try await way(filter, after: wanted.after)
        let objects = try await reader.countObjects(in: realm.id, of: table.id.rawValue, limit: 1_000_000)
        let complete = IndexedColumns(decoding: realm.indexed, at: realm.latest.salt).completeColumns(of: table.id)
        var explanation = SearchExplanation(
            className: table.name.string, version: realm.latest.version.rawValue, query: filter.query.exactText,
            way: "class", examined: objects, objects: objects, indexed: names(complete), role: scope.role,
            hidden: names(scope.hidden))
        switch way {
        case .all: break
        case .keys(let keys):
            explanation.way = "key"
            explanation.examined = keys.count
        case .index(let column, let ranges):
            explanation.way = "index"
            explanation.index = names([column]).first
            explanation.examined = try await reader.countEntries(
                query(Candidate(column: column, ranges: ranges)), limit: 100_000)
        }
        return explanation
    }

    private func names(_ columns: some Sequence<ColumnID>) -> [String] {
        let columns = Set(columns)
        return table.columns.filter { columns.contains($0.id) }.map(\.name.string).sorted()
    }
}
