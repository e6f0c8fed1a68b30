import Changesets
import Merge
import Messages
import RealmState
import Storage
import SyncModel
import Views

/// One realm, as its owner holds it between batches. Confined to its slice's actor.
///
/// A message changes a realm only after `begin`, and `keep` or `undo` ends that: what the message appends to the history waits
/// aside until then, and what it changes in place is remembered as it was. Caches, and the book of sessions, which records what
/// was heard and not what it led to, are no part of that.
final class RealmContext {
    private(set) var record: RealmRecord
    private(set) var state: RealmState
    /// What the objects took in the store that were loaded and written since all were last forgotten: at least what those take that
    /// are held.
    private(set) var objectBytes = 0
    /// The bytes of objects and versions that were read and written since the last `takeCost`, and what pages had beyond what was asked for.
    private var bytesMoved = 0
    private(set) var recent: RecentHistory
    private(set) var index: HistoryIndex
    private var digests: DigestWriter
    var parsed: ChangesetCache
    var sessions: SessionBook
    var flexible = FlexibleMemory()
    var lastUse: UInt64 = 0
    private var clientFiles = ClientFileCache()
    private var unsaved: UnsavedRealm
    /// The salt that `record.indexed` was written with.
    private var indexSalt: VersionSalt
    private var draft: RealmDraft?

    /// The cost of a byte that is read from the store, or written to it, in steps of merging.
    private static let stepsPerByte: UInt64 = 5

    /// - Parameter isNew: it is not stored yet.
    init(
        record: RealmRecord, schema: Schema, limits: WorkerLimits, sessions: SessionBook = SessionBook(),
        isNew: Bool = false
    ) {
        let latest = record.latest.version
        self.record = record
        indexSalt = record.latest.salt
        self.sessions = sessions
        self.isNew = isNew
        state = RealmState(schema: schema, residency: .partial, compatibility: record.compatibility)
        recent = RecentHistory(after: latest)
        index = HistoryIndex(after: latest)
        digests = DigestWriter(
            key: HistoryKey(realm: record.id, generation: record.generation), after: latest)
        parsed = ChangesetCache(maxBytes: limits.maxParsedBytes)
        unsaved = UnsavedRealm(start: latest, isRecordChanged: isNew, imageRoom: ImageRoom(limits.images))
    }

    /// The message in hand has made the realm.
    private(set) var isNew: Bool
    var name: RealmName { record.name }
    var historyKey: HistoryKey { HistoryKey(realm: record.id, generation: record.generation) }
    /// Bytes of what is held of the history, and of clients' views of it.
    var historyMemory: Int { recent.bytes + index.bytes + parsed.bytes + flexible.bytes }
    func key(_ ident: FileIdent) -> ClientFileKey { ClientFileKey(realm: record.id, ident: ident) }

    /// Says that the history has a gap.
    func lacks(_ version: ServerVersion) -> WorkerError {
        WorkerError(.corrupt, "realm \(name) has no version \(version) in its history")
    }

    // MARK: Client files

    func clientFile(_ ident: FileIdent) -> ClientFileEntry? {
        clientFiles.use(ident)
    }

    /// Takes in what the store has of a client file.
    func remember(_ record: ClientFileRecord) { clientFiles.remember(record) }

    /// The store has let go of a client file.
    func forget(_ ident: FileIdent) {
        if draft == nil { clientFiles.forget(ident) }
    }

    /// Takes in all reciprocals that the store has of a client file after a version; nil: they are too many.
    func remember(_ stored: [ServerVersion: [UInt8]]?, after version: ServerVersion, of ident: FileIdent) {
        clientFiles.change(ident) {
            if let stored { $0.load(stored, after: version) } else { $0.hasMany = true }
        }
    }

    // MARK: Caches

    /// The properties that before images are kept of.
    var imaged: ImagedColumns { flexible.imaged(record.imaged) }

    /// The properties by which the store finds objects.
    var indexed: IndexedColumns { flexible.indexed(record.indexed, at: indexSalt) }

    /// Tells the realm's schema from others.
    var schemaStamp: UInt64 { flexible.stamp.of(state.schema) }

    /// The app's schema versions, as its settings were when the realm was last asked for.
    var schemas: [SchemaVersion] = []

    /// What is told of changes, as the app's settings were when the realm was last asked for.
    var feed = ChangeFeedSetting.Mode.off

    /// The history that the places of changes are of, where any are told.
    var history = ""

    /// - Parameter version: the schema version of the client's copy.
    func view(_ definition: ViewDefinition, as version: SchemaVersion?) throws(ViewError) -> View {
        try view(definition, as: version, in: state.schema)
    }

    /// The same while the state is being changed.
    ///
    /// - Parameter schema: the realm's.
    func view(
        _ definition: ViewDefinition, as version: SchemaVersion?, in schema: Schema
    ) throws(ViewError) -> View {
        try flexible.views.view(definition, schema: schema, version: version).metered(by: flexible.meter)
    }

    /// The objects that applying a changeset touches and that are not loaded yet.
    func missing(for changeset: Changeset) -> [ObjectRow: ObjectAddress] {
        var rows: [ObjectRow: ObjectAddress] = [:]
        for address in changeset.touchedAddresses where !state.isLoaded(address) {
            guard let table = state.schema.table(address.className)?.id else { continue }
            rows[ObjectRow(table: table.rawValue, key: address.key)] = address
        }
        return rows
    }

    /// - Parameter bytes: what the object takes in the store.
    func load(_ address: ObjectAddress, _ object: StoredObject?, bytes: Int) {
        state.load(address, object)
        objectBytes += bytes
        bytesMoved += bytes
    }

    /// Notes what was read or sent beside objects and versions.
    func noteMoved(_ bytes: Int) { bytesMoved += bytes }

    /// Returns what reading and writing of the realm, and reading its clients' sets and roles, have taken since the last call beside what messages
    /// count themselves, in steps of merging.
    func takeCost() -> UInt64 {
        defer { bytesMoved = 0 }
        return UInt64(bytesMoved) * Self.stepsPerByte + flexible.views.takeCost()
    }

    /// Lets the index reach further back, if there is room.
    func prepend(_ segment: IndexSegment, maxBytes: Int) {
        if index.bytes + segment.bytes <= maxBytes { index.prepend(segment) }
    }

    /// The store has dropped the history up to a version.
    func compacted(through version: ServerVersion) { record.historyBase = max(record.historyBase, version) }

    // MARK: One message

    /// - Returns: whether it was not begun yet.
    func begin() -> Bool {
        guard draft == nil else { return false }
        draft = RealmDraft(record: record)
        state.begin()
        return true
    }

    /// Makes the changes of the message in hand the realm's.
    ///
    /// - Returns: whether they are the first since the last commit.
    func keep() -> Bool {
        guard let draft else { return false }
        self.draft = nil
        state.commit()
        isNew = false
        for (record, touches) in draft.history {
            recent.append(record)
            index.append(origin: record.entry.originFile, touches)
            digests.append(origin: record.entry.originFile, touches)
        }
        for (ident, outcome, isAcknowledged) in draft.uploads {
            store(outcome, of: ident, before: draft.clientFiles[ident] ?? nil)
            if isAcknowledged, !unsaved.acknowledged.contains(ident) { unsaved.acknowledged.append(ident) }
        }
        unsaved.isRecordChanged = unsaved.isRecordChanged || draft.isRecordChanged
        unsaved.clientFiles.formUnion(draft.clientFiles.keys)
        unsaved.isToldAgain = unsaved.isToldAgain || draft.isToldAgain
        unsaved.indexedBefore.merge(draft.indexedBefore) { first, _ in first }
        unsaved.changes += draft.changes
        defer { unsaved.isListed = true }
        return !unsaved.isListed
    }

    /// Leaves the realm as it was before the message in hand.
    func undo() {
        guard let draft else { return }
        self.draft = nil
        state.rollback()
        record = draft.record
        for (ident, before) in draft.clientFiles {
            if let before { clientFiles.change(ident) { $0.record = before } } else { clientFiles.forget(ident) }
        }
    }

    private func store(_ outcome: UploadOutcome, of ident: FileIdent, before: ClientFileRecord?) {
        clientFiles.change(ident) { entry in
            if let settled = outcome.settled,
                entry.dropReciprocals(after: before?.upload.serverVersion ?? 0, through: settled)
            {
                unsaved.reciprocalTrims[key(ident)] = settled
            }
            for reciprocal in outcome.reciprocals {
                let version = ServerVersion(reciprocal.version)
                let bytes = reciprocal.changeset.encoded()
                entry.setReciprocal(bytes, version: version)
                unsaved.reciprocals[key(ident), default: [:]][version] = bytes
            }
        }
    }

    // MARK: Changing, after `begin`

    /// Changes a client file's row.
    func update(_ ident: FileIdent, _ change: (inout ClientFileRecord) -> Void) {
        clientFiles.change(ident) { entry in
            saveRow(of: ident, entry.record)
            change(&entry.record)
        }
    }

    /// Adds the client file that gets the next ident.
    func insert(_ make: (FileIdent) -> ClientFileRecord) -> ClientFileRecord {
        let file = make(record.nextIdent)
        clientFiles.insert(file)
        saveRow(of: file.ident, nil)
        record.nextIdent = FileIdent(record.nextIdent.rawValue + 1)
        draft?.isRecordChanged = true
        return file
    }

    private func saveRow(of ident: FileIdent, _ row: ClientFileRecord?) {
        precondition(draft != nil, "a realm is changed only by a message in hand")
        if draft?.clientFiles.index(forKey: ident) == nil { draft?.clientFiles.updateValue(row, forKey: ident) }
    }

    /// Applies a changeset whose objects are loaded.
    ///
    /// - Returns: among others, in a flexible realm, its objects as they were, but for those of asymmetric classes, which are in no view.
    func apply(_ changeset: Changeset) throws(RealmStateError) -> AppliedChangeset {
        var applied = AppliedChangeset()
        guard name.isFlexible || feed != .off else {
            try state.apply(changeset)
            return applied
        }
        let before = changeset.touchedAddresses.map { ($0, state.object($0)) }
        let schema = feed == .off ? nil : state.schema
        try state.apply(changeset)
        if let schema {
            applied.changes = changes(
                of: changeset, since: ObjectsBefore(schema: schema, before),
                room: Self.maxChangeBytes - (draft?.changeBytes ?? 0))
            draft?.changeBytes += applied.changes.reduce(0) { $0 + $1.body.count }
        }
        guard name.isFlexible else { return applied }
        noteIndexed(before)
        let imaged = imaged
        var room = unsaved.imageRoom
        defer { unsaved.imageRoom = room }
        applied.images = BeforeImages(
            before.compactMap { address, object in
                guard let table = state.schema.table(address.className), table.kind != .asymmetric else { return nil }
                return imaged.image(
                    of: object, after: state.object(address), at: ObjectSlot(table.id, address.key), in: table,
                    room: &room)
            })
        return applied
    }

    /// Remembers what indexes have of objects that were just changed, as far as they are changed for the first time.
    private func noteIndexed(_ before: [(ObjectAddress, StoredObject?)]) {
        let indexed = indexed
        guard !indexed.isEmpty else { return }
        for (address, object) in before {
            guard let table = state.schema.table(address.className) else { continue }
            let slot = ObjectSlot(table.id, address.key)
            guard draft?.indexedBefore[slot] == nil else { continue }
            draft?.indexedBefore[slot] = object.map { indexed.values(of: $0, in: table) } ?? [:]
        }
    }

    /// Tries what a changeset would do; nothing of it stays.
    func trial<Result>(
        of changeset: Changeset, _ look: (RealmState) throws -> Result
    ) throws -> Result {
        try attempt { state in
            try state.apply(changeset)
            return try look(state)
        }
    }

    /// Has the state changed, and undoes that.
    func attempt<Result>(_ body: (inout RealmState) throws -> Result) throws -> Result {
        precondition(draft != nil, "a realm is changed only by a message in hand")
        state.begin()
        defer { state.rollback() }
        return try body(&state)
    }

    /// Has before images kept of more properties.
    func setImaged(_ columns: ImagedColumns) {
        precondition(draft != nil, "a realm is changed only by a message in hand")
        record.imaged = columns.encoded()
        draft?.isRecordChanged = true
    }

    /// Has the store find objects by more properties, or says how far that is.
    func setIndexed(_ columns: IndexedColumns) {
        precondition(draft != nil, "a realm is changed only by a message in hand")
        record.indexed = columns.encoded(at: indexSalt)
        draft?.isRecordChanged = true
    }

    /// Appends one version to the history, whether or not the merge has left anything of it.
    ///
    /// - Parameter event: the message id of the published event that makes the version.
    func append(
        _ changeset: Changeset, origin: FileIdent, clientVersion: ClientVersion, timestamp: SyncTimestamp,
        as applied: AppliedChangeset = AppliedChangeset(), event: String? = nil
    ) {
        precondition(draft != nil, "a realm is changed only by a message in hand")
        let bytes = changeset.encoded()
        record.latest = SaltedServerVersion(version: record.latest.version + 1, salt: record.salt)
        record.historyBytes += UInt64(bytes.count)
        bytesMoved += bytes.count
        draft?.isRecordChanged = true
        let entry = HistoryEntry(
            serverVersion: record.latest.version, clientVersion: clientVersion, originFile: origin,
            timestamp: timestamp, changeset: bytes)
        draft?.history.append(
            (
                HistoryRecord(
                    entry, salt: record.salt, cumulativeBytes: record.historyBytes,
                    images: applied.images?.encoded() ?? [], event: event ?? ""),
                Touches(of: CollectionOfOne(changeset))
            ))
        if !applied.changes.isEmpty { draft?.changes += place(applied.changes, writtenAt: timestamp) }
    }

    /// Notes a change that is told.
    ///
    /// - Returns: what the change follows.
    func tell(_ place: ChangePlace, of className: ByteString) -> ChangePredecessors {
        record.told.tell(place, of: className)
    }

    /// Takes in what an upload changes beside history and state.
    func integrated(_ outcome: UploadOutcome, of ident: FileIdent, at now: UInt64, isAcknowledged: Bool) {
        update(ident) {
            $0.lastSeen = now
            $0.upload = outcome.progress.upload
            $0.lockedServerVersion = outcome.progress.lockedServerVersion
        }
        draft?.uploads.append((ident, outcome, isAcknowledged))
    }

    func tellAgain() { draft?.isToldAgain = true }

    /// The versions that the message in hand has appended so far.
    var drafted: [HistoryRecord] { draft?.history.map(\.record) ?? [] }

    /// The bytes that before images take of the versions that the message in hand has appended so far.
    var draftedImageBytes: Int { draft?.history.reduce(0) { $0 + $1.record.images.count } ?? 0 }

    /// A client's reciprocals, as the message in hand has made them so far.
    func draftedReciprocals(of ident: FileIdent) -> [ServerVersion: [UInt8]] {
        var found: [ServerVersion: [UInt8]] = [:]
        for upload in draft?.uploads ?? [] where upload.clientFile == ident {
            for reciprocal in upload.outcome.reciprocals {
                found[ServerVersion(reciprocal.version)] = reciprocal.changeset.encoded()
            }
        }
        return found
    }
}

// MARK: - Committing

extension RealmContext {
    /// Adds what the next commit has to write.
    ///
    /// - Returns: how many bytes that are, of objects and versions.
    func gather(into batch: inout SliceBatch) -> Int {
        let id = record.id
        var written = 0
        let changes = state.takeChanges()
        if changes.schemaChanged {
            record.schema = state.schema.encoded()
            unsaved.isRecordChanged = true
        }
        for table in changes.erasedTables {
            batch.tableRemovals[id, default: []].insert(table.rawValue)
        }
        for (table, key) in changes.erased {
            batch.objectRemovals[id, default: []].insert(ObjectRow(table: table.rawValue, key: key))
            gatherEntries(of: ObjectSlot(table, key), now: nil, into: &batch)
        }
        for (table, key, object, _) in changes.upserted {
            let bytes = object.encoded()
            objectBytes += bytes.count
            bytesMoved += bytes.count
            written += bytes.count
            batch.objects[id, default: [:]][ObjectRow(table: table.rawValue, key: key)] = bytes
            gatherEntries(of: ObjectSlot(table, key), now: object, into: &batch)
        }
        if unsaved.isRecordChanged {
            if indexSalt != record.latest.salt, !record.indexed.isEmpty {
                let columns = indexed
                indexSalt = record.latest.salt
                record.indexed = columns.encoded(at: indexSalt)
            }
            batch.realms.append(record)
        }
        if !unsavedHistory.isEmpty {
            batch.history[historyKey] = Array(unsavedHistory)
            written += unsavedHistory.reduce(0) { $0 + $1.entry.changeset.count + $1.images.count }
        }
        batch.historyDigests += digests.take()
        batch.clientFiles += unsaved.clientFiles.sorted().compactMap { clientFiles[$0]?.record }
        batch.reciprocals.merge(unsaved.reciprocals) { $1 }
        batch.reciprocalTrims.merge(unsaved.reciprocalTrims) { $1 }
        return written
    }

    /// Adds what has changed of an object's entries in indexes.
    private func gatherEntries(of slot: ObjectSlot, now object: StoredObject?, into batch: inout SliceBatch) {
        let indexed = indexed
        guard !indexed.columns(of: slot.table).isEmpty, let table = state.schema.table(slot.table) else { return }
        let row = ObjectRow(table: slot.table.rawValue, key: slot.key)
        let before = unsaved.indexedBefore[slot] ?? [:]
        let now = object.map { indexed.values(of: $0, in: table) } ?? [:]
        for (column, value) in before where now[column] != value {
            batch.indexRemovals[record.id, default: []].insert(
                IndexEntry(row: row, column: column.rawValue, value: value))
        }
        for (column, value) in now where before[column] != value {
            batch.indexEntries[record.id, default: []].insert(
                IndexEntry(row: row, column: column.rawValue, value: value))
        }
    }

    private var unsavedHistory: ArraySlice<HistoryRecord> {
        recent.records(after: unsaved.start, through: record.latest.version)
    }

    /// Takes the changes of documents that are told with the next commit; they are nowhere else afterwards.
    func takeChanges() -> [PlacedChange] {
        defer { unsaved.changes = [] }
        return unsaved.changes
    }

    /// The bytes of what the message in hand has done to documents, as it is told.
    var draftedChangeBytes: Int { draft?.changeBytes ?? 0 }

    /// Makes the notice by which gateways are told about the realm after the commit.
    func notice(limits: WorkerLimits) -> IntegratedNotice? {
        let maxBytes = name.isFlexible ? limits.maxViewNoticeBytes : limits.maxNoticeBytes
        let latest = record.latest
        guard latest.version > unsaved.start || !unsaved.acknowledged.isEmpty || unsaved.isToldAgain else { return nil }
        let bytes = unsavedHistory.reduce(0) { $0 + $1.entry.changeset.count + 32 }
        return IntegratedNotice(
            realm: name, generation: record.generation, follows: unsaved.start, latest: latest,
            entries: bytes > maxBytes ? [] : unsavedHistory.map(\.entry),
            acknowledgements: unsaved.acknowledged.compactMap { ident in
                clientFile(ident).map { .init(clientFile: ident, upload: $0.record.upload) }
            }, objects: name.isFlexible ? noticedObjects(maxBytes: maxBytes) : nil)
    }

    /// The published events among what the next commit writes, as its notice names them.
    func noticedEvents() -> [NoticedEvent] {
        NoticedEvent.all(of: unsavedHistory.lazy.map { ($0.version, $0.event) })
    }

    private func noticedObjects(maxBytes: Int) -> NoticedObjects? {
        let (stamp, imaged) = (schemaStamp, imaged)
        let objects = NoticedObjects(
            unsavedHistory, state, imaged, schema: stamp, isNewSchema: flexible.isNews(stamp), maxBytes: maxBytes)
        if objects != nil { flexible.announced = stamp }
        return objects
    }

    /// Everything is durable: forgets what is beyond the limits.
    func committed(limits: WorkerLimits) {
        for ident in unsaved.clientFiles {
            clientFiles.change(ident) { $0.trimReciprocals(to: limits.maxReciprocalBytes) }
        }
        unsaved = UnsavedRealm(start: record.latest.version, imageRoom: ImageRoom(limits.images))
        clientFiles.trim(to: limits.maxClientFilesPerRealm)
        recent.trim(to: limits.maxRecentHistoryBytes)
        index.trim(to: limits.maxIndexBytes)
        if objectBytes > limits.maxObjectBytesPerRealm {
            // Nobody knows any more which of the objects are large. Reading again what is needed costs less than what it took to
            // get here.
            state.trimCache(to: 0)
            objectBytes = 0
        } else {
            state.trimCache(to: limits.maxObjectsPerRealm)
        }
    }
}
