import Changesets
import Documents
import ExtendedJSON
import Messages
import Query
import RealmState
import Storage
import SyncModel

/// Turns writes on documents into changesets, on a realm as its owner has it: finds the objects that the writes are about, and declares classes and
/// properties that the app has and the realm has not met yet.
struct DocumentWriting: SlicePart {
    let work: SliceWork
    let app: AppRecord
    let context: RealmContext
    /// The author's rights; nil: all.
    var rights: AuthorRights?

    struct Recorded {
        /// What to append: a declaration, if one is needed, and what the writes do, if they do anything.
        var changesets: [Changeset] = []
        var results: [WrittenAnswer.Result] = []
        /// The classes and properties that the documents add to the schema, in words; nil if that is nothing.
        var declared: [String]?
    }

    /// How many objects one batch may look through for its filters. The slice does nothing else meanwhile.
    static let maxExamined = 10_000
    /// How many filters of one batch may look through objects: each goes over all that are in memory, too.
    static let maxSearches = 16
    /// What the objects may take that one batch looks through.
    static let maxExaminedBytes = 16 << 20

    /// - Throws: `DocumentError`.
    func record(_ batch: WriteBatch) async throws -> Recorded {
        var recorded = Recorded()
        var schema = context.state.schema
        if let declaration = try await declaration(for: batch) {
            recorded.changesets.append(declaration)
            var state = RealmState(schema: schema)
            try state.apply(declaration)
            schema = state.schema
        }
        try await load(batch.addresses(in: schema, infersSchema: app.developmentMode))
        let roles = try rights?.roles(in: schema)
        try rights?.check(batch, on: context, in: schema, roles)
        let candidates = try await candidates(of: batch, in: schema)
        var options = WriteOptions(
            infersSchema: app.developmentMode, newObjectID: { [clock] in ObjectIDValue.made(at: clock.now()) },
            newUUID: { UUIDValue.made() })
        options.find = { filter, state, limit throws(DocumentError) in
            var keys = Set(filter.keys ?? [])
            if filter.keys == nil {
                keys = candidates[filter.query.className] ?? []
                keys.formUnion(state.objects(of: filter.query.className).lazy.map(\.key))
            }
            var found: [ObjectKey] = []
            for key in keys.sorted() where found.count < limit {
                let address = ObjectAddress(filter.query.className, key)
                guard let object = state.object(address), AuthorRights.sees(object, address, roles) else { continue }
                if filter.matches(object, key: key) { found.append(key) }
            }
            return found
        }
        var state = context.state
        for declaration in recorded.changesets { try state.apply(declaration) }
        let before = rights.map { _ in state }
        let writes = try batch.record(on: &state, version: context.record.latest.version.rawValue, options)
        if let before { try rights?.check(writes.changeset, of: batch, on: before) }
        work.cost += Uploads.cost(toApply: writes.changeset)
        if !writes.bytes.isEmpty { recorded.changesets.append(writes.changeset) }
        recorded.results = writes.results.map {
            WrittenAnswer.Result(matched: $0.matched, modified: $0.modified, inserted: $0.inserted)
        }
        if !writes.additions.isEmpty { recorded.declared = writes.additions.map(\.text) }
        return recorded
    }

    // MARK: Schema

    /// What declares those classes and properties of the app that the writes name and the realm lacks, with all classes that they lead to; nil if
    /// there are none.
    private func declaration(for batch: WriteBatch) async throws -> Changeset? {
        let schema = context.state.schema
        guard batch.namesUnknown(to: schema) else { return nil }
        let elements = try await apps.schema(of: app)
        let declared = DeclaredSchema(elements)
        return declared.changeset(declaring: Set(batch.writes.map(\.className)), in: schema)
    }

    // MARK: Objects

    private func load(_ addresses: [ObjectAddress]) async throws {
        var rows: [ObjectRow: ObjectAddress] = [:]
        for address in addresses where !context.state.isLoaded(address) {
            guard let table = context.state.schema.table(address.className)?.id else { continue }
            rows[ObjectRow(table: table.rawValue, key: address.key)] = address
        }
        guard !rows.isEmpty else { return }
        try await work.load(rows, into: context)
    }

    /// Loads the objects that the filters of a batch select in the store, and returns their keys by class.
    ///
    /// - Throws: `DocumentError` with `limit` where too many have to be looked through.
    private func candidates(of batch: WriteBatch, in schema: Schema) async throws -> [ByteString: Set<ObjectKey>] {
        var found: [ByteString: Set<ObjectKey>] = [:]
        var room = (objects: Self.maxExamined, bytes: Self.maxExaminedBytes)
        var searches = 0
        for (index, write) in batch.writes.enumerated() {
            guard let filter = try write.filter(in: schema, at: index),
                let table = context.state.schema.table(write.className)?.id
            else { continue }
            let keys: [ObjectKey]
            if let named = filter.keys {
                keys = named
            } else {
                searches += 1
                guard searches <= Self.maxSearches else { throw DocumentError.tooMany(index, Self.maxExamined) }
                keys = try await examined(by: filter, table, &room, at: index)
            }
            found[write.className, default: []].formUnion(keys)
            try await load(keys.map { ObjectAddress(write.className, $0) })
        }
        return found
    }

    private func examined(
        by filter: DocumentFilter, _ table: TableID, _ room: inout (objects: Int, bytes: Int), at index: Int
    ) async throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var last: ObjectRow?
        while true {
            let page = try await store.objects(
                in: context.record.id, of: table.rawValue, after: last, maxBytes: 1 << 20)
            guard let end = page.last?.row else { return keys }
            for (row, body) in page {
                room.objects -= 1
                room.bytes -= body.count
                let object = try SliceWork.object(body, of: context.name)
                if filter.matches(object, key: row.key) { keys.append(row.key) }
            }
            work.cost += UInt64(page.count) * 1_000
            guard room.objects >= 0, room.bytes >= 0 else { throw DocumentError.tooMany(index, Self.maxExamined) }
            last = end
        }
    }
}

extension DocumentError {
    fileprivate static func tooMany(_ write: Int, _ most: Int) -> DocumentError {
        DocumentError(
            .limit,
            "expected at most \(DocumentWriting.maxSearches) filters that look through \(most) objects together; find the keys first and write by id",
            at: JSONPlace([.key("writes"), .index(write), .key("filter")]))
    }
}
