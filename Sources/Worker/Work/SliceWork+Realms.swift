import Changesets
import Logging
import Operations
import RealmState
import Storage
import SyncModel
import Views

extension SliceWork {
    /// The app's sync generation in this slice.
    func generation(of app: AppRecord) async throws -> AppGenerationRecord {
        if let known = memory.generations[app.id] { return known }
        let stored =
            if let known = ahead.generation(of: app.id) { known } else {
                try await environment.store.appGeneration(app.id)
            }
        let found =
            stored
            ?? AppGenerationRecord(
                app: app.id, generation: max(app.generation, 1), campaign: nil, at: environment.clock.now())
        memory.generations[app.id] = found
        return found
    }

    /// The realm as it is now, made if it is new and of the app's current generation.
    ///
    /// - Throws: `WaitsForJob` while the realm restarts.
    func realm(_ name: RealmName, of app: AppRecord) async throws -> RealmContext {
        let generation = try await generation(of: app)
        guard let context = try await storedRealm(name) else {
            return try await create(name, of: app, generation).ready(for: app, in: self)
        }
        guard context.record.generation < generation.generation else {
            return try await context.ready(for: app, in: self)
        }
        return try await RealmRestart(work: self).restarted(context, generation: generation.generation).ready(
            for: app, in: self)
    }

    /// The realm for the sake of a client file that there is already. In a realm of an earlier generation than its app's there
    /// are none but those that must reset: to tell them so it need not restart, which costs as much as it is large.
    func unrestartedRealm(_ name: RealmName, of app: AppRecord) async throws -> RealmContext {
        if let context = try await storedRealm(name) { return try await context.ready(for: app, in: self) }
        return try await realm(name, of: app)
    }

    /// The realm, of whatever generation; nil if there is none.
    func storedRealm(_ name: RealmName) async throws -> RealmContext? {
        if let context = memory.realms[name] {
            memory.realms.use(context)
            return context
        }
        let stored = if let known = ahead.realm(name) { known } else { try await environment.store.realm(name) }
        guard var record = stored else { return nil }
        if record.saltEpoch != environment.epoch {
            record.salt = Self.makeSalt()
            record.saltEpoch = environment.epoch
        }
        let context = RealmContext(record: record, schema: try schema(record), limits: environment.limits)
        memory.realms.use(context)
        if context.indexed.isBehind { memory.indexes.begin(name) }
        return context
    }

    private func create(
        _ name: RealmName, of app: AppRecord, _ generation: AppGenerationRecord
    ) async throws -> RealmContext {
        let id = if let next = memory.nextRealm { next } else { try await environment.store.nextRealmID() }
        memory.nextRealm = RealmID(id.value + 1)
        let erased = try await environment.store.erasures(of: name)
        let lost = 2..<max(try await lostIdents().upperBound, erased.map(\.nextIdent).max() ?? 2, 2)
        var record = RealmRecord(
            id: id, name: name, generation: generation.generation, salt: Self.makeSalt(), saltEpoch: environment.epoch,
            nextIdent: lost.upperBound, compatibility: app.compatibility, lostIdents: lost)
        if let last = erased.first { try await begin(&record, after: last) }
        let context = RealmContext(record: record, schema: try schema(record), limits: environment.limits, isNew: true)
        memory.realms.use(context)
        // For an app's first realm, and without a campaign: nobody is to be set back.
        var first = generation
        first.campaign = nil
        stage { $0.terminations.append(first) }
        environment.logger.info("realm created", metadata: .about(name))
        _ = change(context)
        // The realm's base must be in the store before anybody begins with it.
        if record.latest.version > 0 { try await flush() }
        return change(context)
    }

    /// Has a new realm begin with the schema of an erased one, and above its versions, so that no session that missed the erasure
    /// takes what comes for the continuation of what it has. The state there, which has no objects, is a base.
    private func begin(_ record: inout RealmRecord, after erased: ErasureRecord) async throws {
        record.latest = SaltedServerVersion(version: erased.version + 1, salt: record.salt)
        record.told = ToldChanges(
            after: ChangePlace(erasureAfter: erased.version, generation: erased.generation))
        record.historyBase = record.latest.version
        record.schema = erased.schema
        var base = BaseRecord(
            realm: record.id, generation: record.generation, version: record.latest.version, historyBytes: 0,
            isComplete: true, createdAt: environment.clock.now())
        let schema = try schema(record)
        var history = StateHistory(
            key: base.historyKey, salt: record.salt, timestamp: environment.clock.changesetNow)
        try await history.write(
            record, schema, StateChangesets(schema: schema), from: environment.store, pageBytes: 1
        ) { _, _ in }
        (base.entries, base.bytes) = (UInt64(history.latest.rawValue), history.bytes)
        let made = history.take()
        stage { [base] in
            $0.bases.append(base)
            $0.history.merge(made.history) { $1 }
            $0.historyDigests += made.historyDigests
        }
    }

    /// The erasure of the realm that had this name when it gave an ident out; nil if the ident is not of an erased realm.
    func erasure(of ident: FileIdent, in context: RealmContext) async throws -> ErasureRecord? {
        guard context.record.lostIdents.contains(ident) else { return nil }
        return try await environment.store.erasures(of: context.name).last {
            $0.campaign != nil && $0.idents.contains(ident)
        }
    }

    /// The last time that the slice was put back.
    func restore() async throws -> RestoreRecord? {
        if let known = memory.restore { return known }
        let restore = try await environment.store.restore()
        memory.restore = .some(restore)
        return restore
    }

    /// Returns which history the places of an app's changes are of; empty where nothing is told.
    func history(of app: AppRecord) async throws -> String {
        app.changeFeed.isOn ? app.history(after: try await restore()) : ""
    }

    /// Returns the idents that a realm which comes into being takes for lost: there may have been such a realm before the slice
    /// was put back.
    private func lostIdents() async throws -> Range<FileIdent> {
        guard let restore = try await restore(), environment.clock.now() < restore.at &+ RestoreRecord.memory else {
            return 0..<0
        }
        return 2..<FileIdent(2 + RestoreRecord.lostIdents)
    }

    private func schema(_ record: RealmRecord) throws -> Schema {
        guard !record.schema.isEmpty else { return Schema() }
        return try WorkerError.reading("schema of realm \(record.name)") { try Schema(decoding: record.schema) }
    }

    /// Random, never 0, and positive for clients that read it as signed.
    static func makeSalt<Salt: WireInteger>() -> Salt { Salt(UInt64.random(in: 1...UInt64(Int64.max))) }

    /// A client file's row; nil if there is none.
    func clientFile(_ ident: FileIdent, in context: RealmContext) async throws -> ClientFileRecord? {
        if let entry = context.clientFile(ident) { return entry.record }
        guard ident >= 2 else { return nil }
        let key = context.key(ident)
        let stored = if let known = ahead.clientFile(key) { known } else { try await environment.store.clientFile(key) }
        guard let stored else { return nil }
        let file = marked(stored, of: context.name.app)
        context.remember(file)
        return file
    }

    /// Loads what applying changesets touches.
    func load(_ changesets: some Sequence<Changeset>, into context: RealmContext) async throws {
        var rows: [ObjectRow: ObjectAddress] = [:]
        for changeset in changesets { rows.merge(context.missing(for: changeset)) { $1 } }
        try await load(rows, into: context)
    }

    func load(_ rows: [ObjectRow: ObjectAddress], into context: RealmContext) async throws {
        let found = try await environment.store.objects(in: context.record.id, at: Array(rows.keys))
        try load(rows, found, into: context)
    }

    /// - Parameter found: what the store has of the rows.
    func load(_ rows: [ObjectRow: ObjectAddress], _ found: [ObjectRow: [UInt8]], into context: RealmContext) throws {
        for (row, address) in rows {
            let stored = found[row]
            context.load(address, try stored.map { try Self.object($0, of: context.name) }, bytes: stored?.count ?? 0)
        }
    }

    /// - Parameter columns: the properties that are wanted; nil: all.
    static func object(_ bytes: [UInt8], only columns: [ColumnID]? = nil, of realm: RealmName) throws -> StoredObject {
        try WorkerError.reading("an object of realm \(realm)") {
            try columns.map { try StoredObject(decoding: bytes, only: $0) } ?? StoredObject(decoding: bytes)
        }
    }

    /// Applies a changeset whose objects are loaded.
    ///
    /// - Throws: `BadChangesetError` if it cannot be applied.
    func apply(_ changeset: Changeset, to context: RealmContext) throws -> AppliedChangeset {
        do throws(RealmStateError) {
            let applied = try change(context).apply(changeset)
            changeBytes += applied.changes.reduce(0) { $0 + $1.body.count }
            return applied
        } catch {
            throw error.code == .badInstruction
                ? BadChangesetError(reason: error.description, tellsOfObjects: true) : error
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
            records = try await environment.store.history(
                of: context.historyKey, after: after, through: end, maxBytes: maxBytes)
            bytes = records.reduce(0) { $0 + $1.entry.changeset.count + HistoryQuery.overhead }
            guard let last = records.last, last.version == end else { return records }
        }
        for record in context.recent.records(after: max(after, context.recent.base), through: through) {
            guard bytes < maxBytes || records.isEmpty else { break }
            bytes += record.entry.changeset.count + HistoryQuery.overhead
            records.append(record)
        }
        return records
    }
}

// MARK: - Where a client file's history begins

// The version at which a client file's history begins is decided once, and durable before anything is answered by it: what the
// versions below mean to a client, and what its uploads are merged with, hangs on it.
extension SliceWork {
    /// The client file gets the realm, or writes to it, for the first time.
    ///
    /// - Parameter version: what it has already; 0 lets it begin with the newest base, if there is one.
    func begin(
        _ file: ClientFileRecord, at version: ServerVersion, in context: RealmContext
    ) async throws -> ClientFileRecord {
        guard file.historyStart == nil else { return file }
        var file = file
        file.historyStart = version
        if version == 0 {
            let generation = context.record.generation
            let newest = try await bases(of: context).last { $0.generation == generation && $0.isComplete }
            file.historyStart = newest?.version ?? 0
        }
        change(context).update(file.ident) { $0.historyStart = file.historyStart }
        return file
    }

    /// The base that a client file is within at a version; nil if it is in the history.
    func base(
        at version: ServerVersion, of file: ClientFileRecord, in context: RealmContext
    ) async throws -> BaseRecord? {
        guard let start = file.historyStart, version < start else { return nil }
        let generation = context.record.generation
        return try await bases(of: context).first {
            $0.version == start && $0.generation == generation && $0.isComplete
        }
    }

    private func bases(of context: RealmContext) async throws -> [BaseRecord] {
        if let known = ahead.found.bases[context.record.id] { return known }
        return try await environment.store.bases(of: context.record.id)
    }

    /// Whether everything that comes after a version for a client file is still there.
    func isKept(after version: ServerVersion, for file: ClientFileRecord, in context: RealmContext) async throws -> Bool
    {
        // At 0 a client of a flexible realm begins anew.
        if version == 0, file.historyStart == nil || context.name.isFlexible { return true }
        if try await base(at: version, of: file, in: context) != nil { return true }
        return version >= context.record.historyBase
    }
}
