import Changesets
import Logging
import RealmState
import Storage
import SyncModel

extension SliceOwner {
    /// The app's sync generation in this slice.
    func generation(of app: AppRecord) async throws -> AppGenerationRecord {
        if let known = generations[app.id] { return known }
        let found =
            try await store.appGeneration(app.id)
            ?? AppGenerationRecord(app: app.id, generation: max(app.generation, 1), campaign: nil, at: clock.now())
        generations[app.id] = found
        return found
    }

    /// The realm as it is now, made if it is new and of the app's current generation.
    func realm(_ name: RealmName, of app: AppRecord) async throws -> RealmContext {
        let generation = try await generation(of: app)
        guard let context = try await storedRealm(name) else { return try await create(name, of: app, generation) }
        return context.record.generation < generation.generation
            ? try await restart(context, generation: generation.generation) : context
    }

    /// The realm for the sake of a client file that there is already. In a realm of an earlier generation than its app's there
    /// are none but those that must reset: to tell them so it need not restart, which costs as much as it is large.
    func unrestartedRealm(_ name: RealmName, of app: AppRecord) async throws -> RealmContext {
        if let context = try await storedRealm(name) { return context }
        return try await realm(name, of: app)
    }

    /// The realm, of whatever generation; nil if there is none.
    func storedRealm(_ name: RealmName) async throws -> RealmContext? {
        if let context = realms[name] {
            realms.use(context)
            return context
        }
        guard var record = try await store.realm(name) else { return nil }
        if record.saltEpoch != epoch {
            record.salt = VersionSalt(Self.makeSalt())
            record.saltEpoch = epoch
        }
        let context = RealmContext(record: record, schema: try schema(record), limits: limits)
        realms.use(context)
        return context
    }

    private func create(
        _ name: RealmName, of app: AppRecord, _ generation: AppGenerationRecord
    ) async throws -> RealmContext {
        let id: RealmID
        if let next = nextRealm { id = next } else { id = try await store.nextRealmID() }
        nextRealm = RealmID(id.value + 1)
        let record = RealmRecord(
            id: id, name: name, generation: generation.generation, salt: VersionSalt(Self.makeSalt()), saltEpoch: epoch,
            compatibility: app.compatibility)
        let context = RealmContext(record: record, schema: Schema(), limits: limits)
        context.isDirty = true
        pending.terminations.append(generation.withoutCampaign)
        realms.use(context)
        touch(context)
        logger.info("realm created", metadata: ["app": "\(name.app)", "realm": "\(name.partition)"])
        return context
    }

    private func schema(_ record: RealmRecord) throws -> Schema {
        guard !record.schema.isEmpty else { return Schema() }
        do {
            return try Schema(decoding: record.schema)
        } catch {
            throw WorkerError(.corrupt, "schema of realm \(record.name) cannot be read", underlying: error)
        }
    }

    /// Random, never 0, and positive for clients that read it as signed.
    static func makeSalt() -> UInt64 { UInt64.random(in: 1...UInt64(Int64.max)) }

    /// A client file's row; nil if there is none.
    func clientFile(_ ident: FileIdent, in context: RealmContext) async throws -> ClientFileRecord? {
        if let entry = context.clientFile(ident) { return entry.record }
        guard ident >= 2, let record = try await store.clientFile(context.key(ident)) else { return nil }
        context.remember(record)
        return record
    }

    /// Loads what applying changesets touches.
    func load(_ changesets: some Sequence<Changeset>, into context: RealmContext) async throws {
        var missing: Set<ObjectAddress> = []
        for changeset in changesets {
            for address in RealmState.addresses(touchedBy: changeset) where !context.state.isLoaded(address) {
                missing.insert(address)
            }
        }
        guard !missing.isEmpty else { return }
        var rows: [ObjectRow: ObjectAddress] = [:]
        for address in missing {
            guard let table = context.state.schema.table(address.className)?.id else { continue }
            rows[ObjectRow(table: table.rawValue, key: address.key)] = address
        }
        let found = try await store.objects(in: context.record.id, at: Array(rows.keys))
        for (row, address) in rows {
            context.state.load(address, try found[row].map { try storedObject($0, context) })
        }
    }

    func storedObject(_ bytes: [UInt8], _ context: RealmContext) throws -> StoredObject {
        do {
            return try StoredObject(decoding: bytes)
        } catch {
            throw WorkerError(.corrupt, "an object of realm \(context.name) cannot be read", underlying: error)
        }
    }

    /// The history of `after + 1 ... through`, uncommitted versions included, until `maxBytes` are reached.
    func history(
        of context: RealmContext, after: ServerVersion, through: ServerVersion, maxBytes: Int
    ) async throws -> [HistoryRecord] {
        guard after < through else { return [] }
        var records: [HistoryRecord] = []
        var bytes = 0
        if after < context.recent.base {
            let end = min(through, context.recent.base)
            records = try await store.history(of: context.historyKey, after: after, through: end, maxBytes: maxBytes)
            bytes = records.reduce(0) { $0 + $1.entry.changeset.count + 32 }
            guard let last = records.last, last.version == end else { return records }
        }
        for record in context.recent.records(after: max(after, context.recent.base), through: through) {
            guard bytes < maxBytes || records.isEmpty else { break }
            bytes += record.entry.changeset.count + 32
            records.append(record)
        }
        return records
    }
}

extension AppGenerationRecord {
    /// To be recorded for an app's first realm: sets nobody back.
    fileprivate var withoutCampaign: AppGenerationRecord {
        AppGenerationRecord(app: app, generation: generation, campaign: nil, at: at)
    }
}
