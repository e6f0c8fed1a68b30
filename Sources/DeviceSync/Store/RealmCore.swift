internal import Foundation
internal import RealmState
import SyncModel
internal import Synchronization

/// What all `Realm`s of one file share in this process: the file, the newest contents, one writer at a time.
final class RealmCore: Sendable {
    /// How the core is found: by file, or by name in memory.
    enum Location: Hashable, Sendable {
        case file(URL)
        case memory(String)
    }

    /// The user who syncs a realm. Users of two apps are never the same, nor are those of two folders.
    struct Owner: Hashable, Sendable, CustomStringConvertible {
        var appID: String
        var userID: String
        var folder: URL

        var description: String { "the user \(userID) of the app \(appID)" }
    }

    private struct Current {
        var contents: FileContents
        /// What commits have added to the file's log since the newest version that is read from the file began.
        var logBytes = 0
        /// The log is to begin anew as soon as nobody reads from it.
        var isLogDue = false
    }

    let location: Location
    let file: RealmFile
    /// Whether commits are kept for upload.
    let isSynced: Bool
    /// The user whose session the realm has; nil for a local realm and for the fresh copy of a client reset.
    let owner: Owner?
    let lock = WriteLock()
    let observers = RealmObservers()
    let views = RealmViews()
    let versions = ActiveVersions()
    private let settlingBytes: Int
    private let current: Mutex<Current>
    private let dropped = Atomic(false)

    /// - Parameters:
    ///   - isAlone: whether other processes must keep away; not from a file that only a realm's owner knows of.
    ///   - key: of the file, if it is encrypted or to be made so.
    ///   - settlingBytes: after how many bytes of commits the objects that have changed leave the memory.
    init(
        location: Location, isSynced: Bool, owner: Owner? = nil, readOnly: Bool = false, isAlone: Bool = true,
        key: EncryptionKey? = nil, settlingBytes: Int = 4 << 20
    ) throws {
        self.location = location
        self.isSynced = isSynced
        self.owner = owner
        self.settlingBytes = settlingBytes
        switch location {
        case .file(let url):
            let code: Realm.Error.Code = isSynced ? .multipleSyncAgents : .incompatibleLockFile
            file = try RealmFile(url: url, readOnly: readOnly, exclusion: readOnly || !isAlone ? nil : code, key: key)
        case .memory: file = try RealmFile(url: nil)
        }
        current = Mutex(Current(contents: try file.load()))
    }

    var url: URL? { if case .file(let url) = location { url } else { nil } }

    /// Whether the realm was in memory and synced, and its last instance is gone: nobody can open it any more.
    var isDropped: Bool { dropped.load(ordering: .acquiring) }
    func drop() { dropped.store(true, ordering: .releasing) }

    // MARK: Reading

    var snapshot: RealmSnapshot { current.withLock { $0.contents.snapshot } }
    var sync: SyncFileState { current.withLock { $0.contents.sync } }
    /// The subscription sets of a flexible realm.
    var subscriptions: SubscriptionSets { current.withLock { $0.contents.subscriptions } }
    /// The version that the app gave its schema; nil if it never did.
    var schemaVersion: UInt64? { current.withLock { $0.contents.schemaVersion } }
    /// The snapshot, the sync state and the subscription sets of the same commit.
    var newest: (snapshot: RealmSnapshot, sync: SyncFileState, subscriptions: SubscriptionSets) {
        current.withLock { ($0.contents.snapshot, $0.contents.sync, $0.contents.subscriptions) }
    }

    /// Whether the server has said that it has everything that was written here up to a version.
    func isUploaded(upTo version: ClientVersion) throws -> Bool {
        let cursor = sync.progress.upload.clientVersion
        guard cursor < version else { return true }
        return try file.read { try HistoryRows($0).localEntries(after: cursor, upTo: version, limit: 1) }.isEmpty
    }

    // MARK: Writing; all of it with the write lock held

    /// Milliseconds since 2015, never before the newest write here: the merge wants ranks that do not decrease.
    func nextTimestamp() -> SyncTimestamp {
        let now = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        return current.withLock { max(now, $0.contents.lastTimestamp) }
    }

    /// Commits a local write and publishes it. One that could never be uploaded is not stored.
    /// - Parameters:
    ///   - changeset: in streaming form, empty if nothing of it is to be uploaded.
    ///   - schemaVersion: nil to keep what there is.
    ///   - writer: the view whose transaction it was.
    func commitLocal(
        _ state: consuming RealmState, changeset: [UInt8], schemaVersion: UInt64? = nil, by writer: RealmView? = nil,
        withoutNotifying: Set<ObjectIdentifier> = []
    ) throws {
        if isSynced { try OversizedWrite.check(changeset.count, fileURL: url) }
        let (snapshot, sync, _) = newest
        var commit = FileCommit(version: snapshot.version + 1, taking: &state)
        commit.schemaVersion = schemaVersion
        let timestamp = nextTimestamp()
        if isSynced {
            commit.entry = HistoryEntry(
                version: commit.version, originTimestamp: timestamp, originFile: 0,
                remoteVersion: sync.progress.download.serverVersion, changeset: changeset)
        }
        try self.commit(commit, state: state, by: writer, withoutNotifying: withoutNotifying)
        current.withLock { $0.contents.lastTimestamp = timestamp }
    }

    /// Notes a version of the schema that changes nothing else.
    func setSchemaVersion(_ schemaVersion: UInt64) throws {
        var commit = FileCommit(version: snapshot.version)
        commit.schemaVersion = schemaVersion
        try self.commit(commit)
    }

    /// Changes only what the file knows of its server; makes no version.
    func setSync(_ sync: SyncFileState, pendingReset: FileCommit.PendingResetChange = .keep) throws {
        var commit = FileCommit(version: snapshot.version)
        commit.sync = sync
        commit.pendingReset = pendingReset
        try self.commit(commit)
    }

    /// The same for a part of it, by a caller that does not have the write lock.
    func updateSync(_ change: (inout SyncFileState) throws -> Void) throws {
        lock.lock()
        defer { lock.unlock() }
        var sync = sync
        try change(&sync)
        try setSync(sync)
    }

    /// Changes the subscription sets; makes no version.
    func setSubscriptions(_ change: (inout SubscriptionSets) -> Void) throws {
        let old = subscriptions
        let change = SubscriptionChange(of: old, change)
        guard change.sets != old else { return }
        var commit = FileCommit(version: snapshot.version)
        commit.subscriptions = change
        try self.commit(commit)
    }

    /// The same for a caller that does not have the write lock.
    func updateSubscriptions(_ change: (inout SubscriptionSets) -> Void) throws {
        lock.lock()
        defer { lock.unlock() }
        try setSubscriptions(change)
    }

    /// Writes a commit on the newest version and publishes it. `commit.version` says which version it makes.
    /// - Parameter state: the contents from now on; nil if they stay.
    func commit(
        _ commit: FileCommit, state: RealmState? = nil, by writer: RealmView? = nil,
        withoutNotifying: Set<ObjectIdentifier> = []
    ) throws {
        try ReadFailures.check()
        let before = snapshot
        try file.write(commit, over: before.version)
        var state = state ?? before.state
        state.compatibility = (commit.sync ?? sync).rules
        let logBytes = current.withLock { current in
            current.contents.snapshot = RealmSnapshot(state: state, version: commit.version)
            if let sync = commit.sync { current.contents.sync = sync }
            if let subscriptions = commit.subscriptions { current.contents.subscriptions = subscriptions.sets }
            if let schemaVersion = commit.schemaVersion { current.contents.schemaVersion = schemaVersion }
            current.logBytes += commit.logBytes
            return current.logBytes
        }
        if logBytes >= settlingBytes { settle() }
        let newest = snapshot
        // Before anybody is told, who may look at the view.
        writer?.stored(newest)
        views.hear(of: newest, except: writer)
        guard commit.version != before.version, let changes = commit.changes else { return }
        observers.notify(newest, changes, except: withoutNotifying)
    }

    /// Runs a write that nobody's thread of the app waits in, for a caller that does not have the write lock.
    /// - Throws: what `body` throws, or why something could not be read.
    func writing<Result>(_ body: () throws -> Result) throws -> Result {
        lock.lock()
        defer { lock.unlock() }
        prepareToWrite()
        return try ReadFailures.collecting(body)
    }

    /// Indexes properties that are declared so and have no index yet; without the write lock.
    func addIndexes(_ declared: [ObjectSchemaDescription]) throws {
        guard file.lacksIndexes(declared, snapshot.state.schema) else { return }
        lock.lock()
        defer { lock.unlock() }
        try file.addIndexes(declared, snapshot.state.schema)
        settle()
        views.hear(of: snapshot, except: nil)
    }

    /// Puts the newest contents on the newest version of the file. As long as that does not work, what has changed stays in memory.
    private func settle() {
        let old = snapshot
        guard let state = try? file.settled(old.state, old.version) else { return }
        let new = RealmSnapshot(state: state, version: old.version)
        current.withLock { current in
            current.contents.snapshot = new
            current.logBytes = 0
            current.isLogDue = true
        }
    }

    /// Lets SQLite begin its log anew where that is due. To be called when a write begins, before it looks at the contents: by now,
    /// whoever wrote before has let go of older versions.
    ///
    /// SQLite begins its log anew once all of it is in the database and nobody reads from it. The newest version is always being read: so
    /// everything is moved to the database, and then read from there. Older versions that somebody holds put that off.
    func prepareToWrite() {
        guard current.withLock({ $0.isLogDue }), (try? file.checkpoint()) == true else { return }
        let newest = snapshot
        try? (newest.state.base as? FileVersion)?.renew(newest.version)
        current.withLock { $0.isLogDue = false }
    }
}
