import Changesets
import Documents
import Query
import RealmState
package import Storage
import SyncModel
import Views

/// The last object that a page looked at.
package struct SearchPlace: Hashable, Sendable {
    package var row: ObjectRow
    /// The property whose index the pages go by, with the object's entry; nil: they go through the class by its keys.
    package var index: Entry?

    package struct Entry: Hashable, Sendable {
        package var column: UInt32
        package var value: [UInt8]

        package init(column: UInt32, value: [UInt8]) {
            self.column = column
            self.value = value
        }
    }

    package init(_ row: ObjectRow, by index: Entry? = nil) {
        self.row = row
        self.index = index
    }
}

// The ways through the objects of a class.
extension DocumentSearch {
    /// The objects that have to be looked at.
    enum Way {
        /// The objects of the class, in the order of their keys.
        case all
        /// The objects of these keys, ascending.
        case keys([ObjectKey])
        /// The objects whose entries in the index of a property lie in some ranges, in the order of value and key.
        case index(ColumnID, [IndexRange])
    }

    /// A property's index that leads to what is wanted.
    struct Candidate {
        var column: ColumnID
        var ranges: [IndexRange]
    }

    struct Found {
        var row: ObjectRow
        var object: StoredObject
        var bytes: Int
        var entry: SearchPlace.Entry?

        var place: SearchPlace { SearchPlace(row, by: entry) }
    }

    /// Objects that were read at once.
    struct Stretch {
        var objects: [Found]
        /// Where the next stretch goes on; nil: there is nothing more.
        var end: SearchPlace?
    }

    /// An index leads to more objects than that: they are counted no further.
    private static let mostByIndex = 100_000

    /// The way to what a filter selects that leads to the fewest objects.
    ///
    /// - Parameter place: where the page before ended, whose way the pages go on.
    func way(_ filter: DocumentFilter, after place: SearchPlace? = nil) async throws -> Way {
        guard !scope.isEmpty, let seen = scope.accesses else { return .keys([]) }
        if let keys = filter.keys { return .keys(Set(keys).sorted()) }
        let candidates = try candidates(filter, seen)
        if let place {
            guard let entry = place.index else {
                if let keys = keys(seen) { return keys }
                budget.lookThroughClass()
                return .all
            }
            guard let found = candidates.first(where: { $0.column.rawValue == entry.column }) else {
                throw DocumentError(
                    .conflict, "the index that the pages went by is made anew: begin with the first page again")
            }
            return .index(found.column, found.ranges)
        }
        if let keys = keys(seen) { return keys }
        for limit in [1_000, 10_000, Self.mostByIndex] {
            var fewest: (candidate: Candidate, count: Int)?
            for candidate in candidates {
                let count = try await reader.countEntries(query(candidate), limit: limit)
                if count < limit, count < fewest?.count ?? .max { fewest = (candidate, count) }
            }
            if let fewest { return .index(fewest.candidate.column, fewest.candidate.ranges) }
        }
        budget.lookThroughClass()
        return .all
    }

    /// The keys by which a role alone says what is seen.
    private func keys(_ seen: [ClassAccess]) -> Way? {
        for case .keys(let keys) in seen { return .keys(Set(keys).sorted()) }
        return nil
    }

    /// The indexes that lead to all that the filter selects and the role shows.
    func candidates(_ filter: DocumentFilter, _ seen: [ClassAccess]) throws -> [Candidate] {
        let indexed = IndexedColumns(decoding: realm.indexed, at: realm.latest.salt)
        var ranges = filter.query.valueRanges(maxCount: IndexedColumns.maxValueBytes)
        for case .column(let column, let allowed) in seen {
            let allowed = ValueRanges(union: allowed)
            ranges[column] = ranges[column].map { $0.intersection(allowed) } ?? allowed
        }
        return ranges.sorted { $0.key < $1.key }.compactMap { column, values in
            guard indexed.isComplete(column, of: table.id), values.ranges.count <= limits.ranges else { return nil }
            return Candidate(
                column: column, ranges: values.ranges.map { IndexRange(low: $0.low, high: $0.high) })
        }
    }

    func query(_ candidate: Candidate, after place: SearchPlace? = nil) -> IndexQuery {
        IndexQuery(
            realm: realm.id, table: table.id.rawValue, column: candidate.column.rawValue, ranges: candidate.ranges,
            after: place.flatMap { place in place.index.map { ($0.value, place.row.key) } })
    }

    // MARK: Reading

    func read(_ way: Way, after last: SearchPlace?) async throws -> Stretch {
        try budget.requireTime()
        switch way {
        case .all:
            let found = try await reader.objects(
                in: realm.id, of: table.id.rawValue, after: last?.row, maxBytes: limits.readBytes)
            return Stretch(
                objects: try found.map { try self.found($0.row, $0.body) }, end: found.last.map { SearchPlace($0.row) })
        case .keys(let keys):
            let rest = last.map { last in keys.drop { $0 <= last.row.key } } ?? keys[...]
            let rows = rest.prefix(limits.keysAtOnce).map { ObjectRow(table: table.id.rawValue, key: $0) }
            let bodies = try await reader.objects(in: realm.id, at: rows)
            return Stretch(
                objects: try rows.compactMap { row in try bodies[row].map { try found(row, $0) } },
                end: rows.count < rest.count ? rows.last.map { SearchPlace($0) } : nil)
        case .index(let column, let ranges):
            var query = query(Candidate(column: column, ranges: ranges), after: last)
            query.ranges = query.rest
            guard !query.ranges.isEmpty else { return Stretch(objects: [], end: nil) }
            let objects = try await reader.objects(query, maxBytes: limits.readBytes).map { found in
                try self.found(
                    found.row, found.body, by: SearchPlace.Entry(column: column.rawValue, value: found.value))
            }
            return Stretch(objects: objects, end: objects.last?.place)
        }
    }

    private func found(_ row: ObjectRow, _ body: [UInt8], by entry: SearchPlace.Entry? = nil) throws -> Found {
        Found(row: row, object: try StoredObject(decoding: body), bytes: body.count, entry: entry)
    }

    /// Visits what a filter selects.
    ///
    /// - Parameter body: returns whether to go on.
    /// - Returns: how many objects were looked at.
    @discardableResult
    func forEach(_ filter: DocumentFilter, _ way: Way, _ body: (Found) async throws -> Bool) async throws -> Int {
        var last: SearchPlace?
        var examined = 0
        repeat {
            let stretch = try await read(way, after: last)
            for found in stretch.objects where try holds(filter, found) {
                guard try await body(found) else { return examined }
            }
            examined += stretch.objects.count
            try budget.looked(at: stretch.objects.count, of: table.name)
            last = stretch.end
        } while last != nil
        return examined
    }
}
