package import Changesets
package import ExtendedJSON
import Query
package import RealmState

/// The options of a batch: what it may do, and where new primary keys come from.
package struct WriteOptions: Sendable {
    package var limits: DocumentLimits
    /// Whether classes and properties that are not there are made as documents suggest them, for development mode.
    package var infersSchema: Bool
    package var newObjectID: @Sendable () -> ObjectIDValue
    package var newUUID: @Sendable () -> UUIDValue
    /// Finds what a filter selects in a state as the writes before have left it, ascending: as many as the limit says. Whoever holds a partial
    /// state looks for it elsewhere, too, and loads what is found beforehand.
    package var find: @Sendable (DocumentFilter, RealmState, Int) throws(DocumentError) -> [ObjectKey]

    package init(
        limits: DocumentLimits = DocumentLimits(), infersSchema: Bool = false,
        newObjectID: @escaping @Sendable () -> ObjectIDValue,
        newUUID: @escaping @Sendable () -> UUIDValue
    ) {
        find = { filter, state, limit throws(DocumentError) in try Self.find(filter, in: state, limit) }
        self.limits = limits
        self.infersSchema = infersSchema
        self.newObjectID = newObjectID
        self.newUUID = newUUID
    }
}

extension WriteOptions {
    private static func find(
        _ filter: DocumentFilter, in state: RealmState, _ limit: Int
    ) throws(DocumentError) -> [ObjectKey] {
        guard state.residency == .complete else {
            throw DocumentError(
                .notLoaded,
                "the objects of \(filter.query.className) were not loaded before a filter was tried on them",
                at: .root.key("filter"))
        }
        return filter.keys(in: state, limit: limit)
    }
}

/// The result of one write.
package struct WriteResult: Hashable, Sendable {
    /// The objects that the write found.
    package var matched: Int
    /// The objects that are not what they were.
    package var modified: Int
    /// The primary key of the object that the write has made.
    package var inserted: BSONValue?

    package init(matched: Int = 0, modified: Int = 0, inserted: BSONValue? = nil) {
        self.matched = matched
        self.modified = modified
        self.inserted = inserted
    }
}

/// A batch as instructions.
package struct RecordedWrites: Sendable {
    /// The instructions of all writes; empty if nothing changes.
    package var changeset: Changeset
    /// The changeset in the streaming form, as a client would upload it; no bytes if nothing changes.
    package var bytes: [UInt8]
    /// The results of the writes, in their order.
    package var results: [WriteResult]
    /// The classes and properties that the batch has made, for people to be told.
    package var additions: [SchemaAddition]
}

extension WriteBatch {
    /// The objects that the writes by primary key touch: what a partial state has to have loaded.
    ///
    /// - Parameter infersSchema: whether a class that is not there would be made; it has no objects then.
    /// - Throws: what recording would throw for a key.
    package func addresses(
        in schema: Schema, infersSchema: Bool = false
    ) throws(DocumentError) -> [ObjectAddress] {
        let mapping = DocumentMapping(schema: schema)
        var addresses: [ObjectAddress] = []
        for (index, write) in writes.enumerated() {
            try at(Self.place(index)) { () throws(DocumentError) in
                if infersSchema, schema.table(write.className) == nil { return }
                let table = try mapping.table(write.className)
                guard let (place, key) = write.key(table) else { return }
                addresses.append(
                    ObjectAddress(
                        table.name, try at(place) { () throws(DocumentError) in try mapping.key(key, of: table) }))
            }
        }
        return addresses
    }

    /// Applies the writes to a state and records them as instructions, all or none: on an error the state is as it was.
    ///
    /// The state is a complete one, or has loaded `addresses`. Links may lead to objects that are not there, as documents' do.
    ///
    /// - Parameter version: the version that the state is, for `onlyIfVersion`.
    /// - Throws: an error whose place begins with `writes[n]`, or `conflict`.
    package func record(
        on state: inout RealmState, version: UInt64? = nil, _ options: WriteOptions
    ) throws(DocumentError) -> RecordedWrites {
        if let onlyIfVersion, onlyIfVersion != version {
            throw DocumentError(
                .conflict,
                "expected the realm at version \(onlyIfVersion), it is at \(version.map { "\($0)" } ?? "none")",
                at: .root.key("onlyIf").key("version"))
        }
        guard writes.count <= options.limits.writes else {
            throw DocumentError(
                .limit, "expected at most \(options.limits.writes) writes, came \(writes.count)",
                at: .root.key("writes"))
        }
        let additions = options.infersSchema ? try SchemaInference.additions(for: self, to: state.schema) : []
        var recorder = WriteRecorder(taking: &state, options)
        do throws(DocumentError) {
            try recorder.add(additions)
            var results: [WriteResult] = []
            results.reserveCapacity(writes.count)
            for (index, write) in writes.enumerated() {
                results.append(
                    try at(Self.place(index)) { () throws(DocumentError) in try recorder.perform(write) })
            }
            let changeset = recorder.transaction.changeset
            return RecordedWrites(
                changeset: changeset, bytes: recorder.transaction.commit(returningTo: &state), results: results,
                additions: additions)
        } catch {
            recorder.transaction.rollback(returningTo: &state)
            throw error
        }
    }

    /// Records the writes as `record` does and leaves the state as it is.
    package func recorded(
        on state: RealmState, version: UInt64? = nil, _ options: WriteOptions
    ) throws(DocumentError) -> RecordedWrites {
        var scratch = state
        return try record(on: &scratch, version: version, options)
    }

    private static func place(_ index: Int) -> JSONPlace { JSONPlace([.key("writes"), .index(index)]) }
}

extension DocumentWrite {
    /// The primary key that the write names, and where; nil if it names none.
    fileprivate func key(_ table: TableSchema) -> (place: JSONPlace, key: BSONValue)? {
        let name = table.key?.name ?? ""
        return switch operation {
        case .insert(let document), .upsert(let document):
            document[name].map { (JSONPlace([.key("document"), .key(name)]), $0) }
        case .replace(let id, _), .update(.id(let id), _), .delete(.id(let id)): (JSONPlace([.key("id")]), id)
        case .update(.filter, _), .delete(.filter): nil
        }
    }
}
