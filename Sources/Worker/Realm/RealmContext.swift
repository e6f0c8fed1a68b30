import Changesets
import Messages
import RealmState
import Storage

/// What an owner holds of one realm between batches. Confined to its slice's actor.
final class RealmContext {
    /// A session that was bound here, as far as memory goes back: evidence for inferring resets, nothing else.
    struct Session {
        var connection: String
        var boundAt: UInt64
        var clientFile: UInt64?
    }

    var record: RealmRecord
    var isDirty = false
    var state: RealmState
    var recent: RecentHistory
    var lastUse: UInt64 = 0
    /// The version that the batch in hand found, and the client files whose uploads it dealt with.
    var batchStart: UInt64
    var acknowledged: [UInt64] = []

    private(set) var clientFiles: [UInt64: ClientFileEntry] = [:]
    private(set) var sessions: [SessionReference: Session] = [:]
    private var dirtyIdents: Set<UInt64> = []
    private var uses: UInt64 = 0
    private static let maxSessions = 4_000

    init(record: RealmRecord, schema: Schema) {
        self.record = record
        state = RealmState(schema: schema, residency: .partial)
        recent = RecentHistory(after: record.latest.version)
        batchStart = record.latest.version
    }

    var name: RealmName { record.name }
    var historyKey: HistoryKey { HistoryKey(realm: record.id, generation: record.generation) }
    func key(_ ident: UInt64) -> ClientFileKey { ClientFileKey(realm: record.id, ident: ident) }

    // MARK: Client files

    func clientFile(_ ident: UInt64) -> ClientFileEntry? {
        guard clientFiles[ident] != nil else { return nil }
        uses &+= 1
        clientFiles[ident]?.lastUse = uses
        return clientFiles[ident]
    }

    func remember(_ record: ClientFileRecord) {
        guard clientFiles[record.ident] == nil else { return }
        uses &+= 1
        clientFiles[record.ident] = ClientFileEntry(record: record)
        clientFiles[record.ident]?.lastUse = uses
    }

    /// Changes a client file's row, to be written with the batch.
    func update(_ ident: UInt64, _ change: (inout ClientFileRecord) -> Void) {
        guard var entry = clientFiles[ident] else { return }
        change(&entry.record)
        clientFiles[ident] = entry
        dirtyIdents.insert(ident)
    }

    /// Changes what is held of a client file beside its row.
    func updateEntry(_ ident: UInt64, _ change: (inout ClientFileEntry) -> Void) {
        guard var entry = clientFiles[ident] else { return }
        change(&entry)
        clientFiles[ident] = entry
    }

    func insert(_ record: ClientFileRecord) {
        uses &+= 1
        var entry = ClientFileEntry(record: record)
        entry.load([:], after: 0)
        entry.lastUse = uses
        clientFiles[record.ident] = entry
        dirtyIdents.insert(record.ident)
    }

    // MARK: Sessions

    func opened(_ session: SessionReference, _ info: Session) {
        if sessions.count >= Self.maxSessions { sessions.removeAll() }
        sessions[session] = info
    }

    func identified(_ session: SessionReference, as ident: UInt64) { sessions[session]?.clientFile = ident }
    func closed(_ session: SessionReference) -> Session? { sessions.removeValue(forKey: session) }

    // MARK: Committing

    var dirtyClientFiles: [ClientFileRecord] {
        dirtyIdents.sorted().compactMap { clientFiles[$0]?.record }
    }

    /// Everything pending is durable: forgets what is beyond the limits.
    func committed(limits: WorkerLimits) {
        isDirty = false
        for ident in dirtyIdents {
            if let bytes = clientFiles[ident]?.reciprocalBytes, bytes > limits.maxReciprocalBytes {
                clientFiles[ident]?.forgetReciprocals()
            }
        }
        dirtyIdents = []
        if clientFiles.count > limits.maxClientFilesPerRealm {
            let oldest = clientFiles.sorted { $0.value.lastUse < $1.value.lastUse }
            for (ident, _) in oldest.prefix(clientFiles.count - limits.maxClientFilesPerRealm / 2) {
                clientFiles[ident] = nil
            }
        }
        recent.trim(to: limits.maxRecentHistoryBytes)
        state.trimCache(to: limits.maxObjectsPerRealm)
    }
}
