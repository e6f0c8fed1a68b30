package import Changesets
package import ExtendedJSON
package import Query
package import RealmState

/// A filter as MongoDB writes them, as a query on the objects of one class.
///
/// - Operators: `$eq $ne $gt $gte $lt $lte $in $nin $exists $not $all $size $regex` on fields, and `$and $or $nor`. Others are errors.
/// - Constants have the property's type, as in documents that are written; beside a number any number may stand.
/// - A comparison with a list, a set or a path through a list of embedded objects holds if it does for any element. `$ne`, `$nin` and `$not`
///   are negations: they hold if it does for none.
/// - Null is what is not there: `$exists: true` selects what is not null, and null is neither less nor greater than anything.
/// - Times are compared as documents show them, in milliseconds.
/// - `$regex` is a plain text, perhaps with `^` at its beginning and `$` at its end; with the option `i` in ASCII.
package struct DocumentFilter: Sendable {
    package let query: ObjectQuery

    /// - Throws: `unsupportedOperator`, `unknownField`, `wrongType`, `invalidWrite` or `limit`; the place is that in the filter.
    package init(
        _ filter: BSONDocument, on table: TableSchema, schema: Schema, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        try self.init(filter, on: table, DocumentMapping(schema: schema), QuerySchema(schema), limits)
    }

    /// A filter for what a query in the language of subscriptions selects (docs/queries.md), which looks at an object alone.
    ///
    /// - Throws: `invalidWrite` for a text that is no such query.
    package init(query text: ByteString, on table: TableSchema, schema: Schema) throws(DocumentError) {
        do throws(QueryError) {
            let query = try ObjectQuery(text, on: table.name, schema: QuerySchema(schema))
            guard query.arrangement.isEmpty else {
                throw QueryError(.query, "SORT, DISTINCT and LIMIT are said beside the query", at: 0)
            }
            try query.checkSubscription()
            self.query = query
        } catch {
            throw DocumentError(.invalidWrite, error.message)
        }
    }

    /// - Parameter queries: the schema as queries see it, which many filters can share.
    init(
        _ filter: BSONDocument, on table: TableSchema, _ mapping: DocumentMapping, _ queries: QuerySchema,
        _ limits: DocumentLimits
    ) throws(DocumentError) {
        var reader = FilterReader(mapping: mapping, table: table, limits: limits)
        let term = try reader.filter(filter, depth: 0)
        do throws(QueryError) {
            query = try ObjectQuery(term, on: table.name, schema: queries)
        } catch {
            throw DocumentError(.wrongType, error.message)
        }
    }

    package func matches(_ object: StoredObject, key: ObjectKey) -> Bool { query.matches(object, key: key) }

    /// - Returns: nil if that takes more than the meter allows.
    package func matches(_ object: StoredObject, key: ObjectKey, meter: EvaluationMeter) -> Bool? {
        meter.trial(
            { query.matches(object, key: key, meter: meter) },
            explain: { query.explanation(of: object, key: key, perObject: meter.perObject) ?? "the filter" })
    }

    /// The primary keys of which an object has to have one to be selected; nil if the filter names none.
    package var keys: [ObjectKey]? {
        NormalizedQuery(query).equalities.first { $0.property.slot == .key }?.values.compactMap(ObjectKey.init)
    }

    /// The keys of the objects that the filter selects in a state, ascending: looked for by primary key or an index if one serves.
    ///
    /// - Parameter limit: how many are enough.
    package func keys(in state: RealmState, limit: Int) -> [ObjectKey] {
        var found: [ObjectKey] = []
        if let candidates = candidates(in: state) {
            for (key, object) in state.objects(at: candidates, of: query.className) where found.count < limit {
                if matches(object, key: key) { found.append(key) }
            }
            return found
        }
        for (key, object) in state.cursor(of: query.className) {
            guard found.count < limit else { break }
            if matches(object, key: key) { found.append(key) }
        }
        return found
    }

    private func candidates(in state: RealmState) -> [ObjectKey]? {
        if let keys { return Set(keys).sorted() }
        for (column, ranges) in query.valueRanges(maxCount: 64).sorted(by: { $0.key < $1.key }) {
            guard let found = state.keys(of: query.className, having: column, in: ranges.ranges) else { continue }
            return (found.indexed + found.known).sorted()
        }
        return nil
    }
}
