import Changesets
import RealmState
import Storage
import SyncModel

/// What an owner holds of one realm between batches. Confined to its slice's actor.
final class RealmContext {
    var record: RealmRecord
    var isDirty = false
    /// It is among those that the next commit deals with.
    var isTouched = false
    var state: RealmState
    var recent: RecentHistory
    var index: HistoryIndex
    var digests: DigestWriter
    var parsed: ChangesetCache
    var lastUse: UInt64 = 0
    /// The version that the batch in hand found, and the client files whose uploads it dealt with.
    var batchStart: ServerVersion
    var acknowledged: [FileIdent] = []
    /// Gateways are told its latest version with the next commit although nothing has changed.
    var isToldAgain = false
    var sessions = SessionBook()

    private(set) var clientFiles: [FileIdent: ClientFileEntry] = [:]
    private var dirtyIdents: Set<FileIdent> = []
    private var uses: UInt64 = 0

    init(record: RealmRecord, schema: Schema, limits: WorkerLimits) {
        let latest = record.latest.version
        self.record = record
        state = RealmState(schema: schema, residency: .partial, compatibility: record.compatibility)
        recent = RecentHistory(after: latest)
        index = HistoryIndex(after: latest)
        digests = DigestWriter(
            key: HistoryKey(realm: record.id, generation: record.generation), after: latest)
        parsed = ChangesetCache(maxBytes: limits.maxParsedBytes)
        batchStart = latest
    }

    var name: RealmName { record.name }
    var historyKey: HistoryKey { HistoryKey(realm: record.id, generation: record.generation) }
    /// Bytes of what is held of the history.
    var historyMemory: Int { recent.bytes + index.bytes + parsed.bytes }
    func key(_ ident: FileIdent) -> ClientFileKey { ClientFileKey(realm: record.id, ident: ident) }

    // MARK: Client files

    func clientFile(_ ident: FileIdent) -> ClientFileEntry? {
        guard let index = clientFiles.index(forKey: ident) else { return nil }
        uses &+= 1
        clientFiles.values[index].lastUse = uses
        return clientFiles.values[index]
    }

    func remember(_ record: ClientFileRecord) {
        guard clientFiles[record.ident] == nil else { return }
        uses &+= 1
        clientFiles[record.ident] = ClientFileEntry(record: record)
        clientFiles[record.ident]?.lastUse = uses
    }

    /// Changes a client file's row, to be written with the batch.
    func update(_ ident: FileIdent, _ change: (inout ClientFileRecord) -> Void) {
        guard let index = clientFiles.index(forKey: ident) else { return }
        change(&clientFiles.values[index].record)
        dirtyIdents.insert(ident)
    }

    /// Changes what is held of a client file beside its row, in place.
    func updateEntry<T>(_ ident: FileIdent, _ change: (inout ClientFileEntry) -> T) -> T? {
        guard let index = clientFiles.index(forKey: ident) else { return nil }
        return change(&clientFiles.values[index])
    }

    func insert(_ record: ClientFileRecord) {
        uses &+= 1
        var entry = ClientFileEntry(record: record)
        entry.load([:], after: 0)
        entry.lastUse = uses
        clientFiles[record.ident] = entry
        dirtyIdents.insert(record.ident)
    }

    // MARK: Committing

    var dirtyClientFiles: [ClientFileRecord] {
        dirtyIdents.sorted().compactMap { clientFiles[$0]?.record }
    }

    /// Everything pending is durable: forgets what is beyond the limits.
    func committed(limits: WorkerLimits) {
        isDirty = false
        for ident in dirtyIdents { clientFiles[ident]?.trimReciprocals(to: limits.maxReciprocalBytes) }
        dirtyIdents = []
        if clientFiles.count > limits.maxClientFilesPerRealm {
            let oldest = clientFiles.sorted { $0.value.lastUse < $1.value.lastUse }
            for (ident, _) in oldest.prefix(clientFiles.count - limits.maxClientFilesPerRealm / 2) {
                clientFiles[ident] = nil
            }
        }
        recent.trim(to: limits.maxRecentHistoryBytes)
        index.trim(to: limits.maxIndexBytes)
        state.trimCache(to: limits.maxObjectsPerRealm)
    }
}
