internal import Foundation
internal import Logging
internal import RealmState
internal import SyncProtocol
internal import Synchronization

/// What all `Realm`s of one file share in this process: the file, the newest contents, one writer at a time.
final class RealmCore: Sendable {
    /// How the core is found: by file, or by name in memory.
    enum Location: Hashable, Sendable {
        case file(URL)
        case memory(String)
    }

    private struct Current {
        var snapshot: RealmSnapshot
        /// Its rules are the state's.
        var sync: SyncFileState {
            didSet { snapshot.state.compatibility = sync.rules }
        }
        var lastTimestamp: UInt64
        var invalidated = false
    }

    let location: Location
    let file: RealmFile
    /// Whether commits are kept for upload.
    let isSynced: Bool
    let lock = WriteLock()
    let observers = RealmObservers()
    private let current: Mutex<Current>

    /// - Parameter isAlone: whether other processes must keep away; not from a file that only a realm's owner knows of.
    init(location: Location, isSynced: Bool, readOnly: Bool = false, isAlone: Bool = true) throws {
        self.location = location
        self.isSynced = isSynced
        switch location {
        case .file(let url):
            let code: Realm.Error.Code = isSynced ? .multipleSyncAgents : .incompatibleLockFile
            file = try RealmFile(url: url, readOnly: readOnly, exclusion: readOnly || !isAlone ? nil : code)
        case .memory: file = try RealmFile(url: nil)
        }
        let contents = try file.load()
        current = Mutex(
            Current(
                snapshot: RealmSnapshot(state: contents.state, version: contents.version), sync: contents.sync,
                lastTimestamp: contents.lastTimestamp))
    }

    var url: URL? { if case .file(let url) = location { url } else { nil } }

    // MARK: Reading

    var snapshot: RealmSnapshot { current.withLock { $0.snapshot } }
    var sync: SyncFileState { current.withLock { $0.sync } }
    /// The two as one commit left them.
    var newest: (snapshot: RealmSnapshot, sync: SyncFileState) { current.withLock { ($0.snapshot, $0.sync) } }

    // MARK: Writing; all of it with the write lock held

    /// Milliseconds since 2015, never before the newest write here: the merge wants ranks that do not decrease.
    func nextTimestamp() -> UInt64 {
        let now = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000)).rawValue
        return current.withLock { max(now, $0.lastTimestamp) }
    }

    /// Commits a local write and publishes it.
    /// - Parameter changeset: in streaming form, empty if nothing of it is to be uploaded.
    /// - Returns: the version it made.
    @discardableResult
    func commitLocal(_ state: consuming RealmState, changeset: [UInt8], withoutNotifying: Set<ObjectIdentifier> = [])
        throws -> UInt64
    {
        let before = current.withLock { ($0.snapshot, $0.sync) }
        let version = before.0.version + 1
        let timestamp = nextTimestamp()
        var commit = RealmFile.Commit(version: version)
        let changes = state.takeChanges()
        if changes.schemaChanged { commit.schema = state.schema }
        commit.changes = changes
        if isSynced {
            commit.entry = HistoryEntry(
                version: version, originTimestamp: timestamp, originFile: 0,
                remoteVersion: before.1.progress.download.serverVersion.rawValue, changeset: changeset)
        }
        try file.write(commit, over: before.0.version)
        publish(
            RealmSnapshot(state: state, version: version), changes, sync: nil, timestamp: timestamp, over: before.0,
            withoutNotifying: withoutNotifying)
        return version
    }

    /// Commits what is not a local write; `commit.version` says which version follows.
    func commit(_ commit: RealmFile.Commit, changes: StateChanges, state: RealmState?) throws {
        let before = snapshot
        try file.write(commit, over: before.version)
        let after = RealmSnapshot(state: state ?? before.state, version: commit.version)
        publish(after, changes, sync: commit.sync, timestamp: nil, over: before)
    }

    /// Changes only what the file knows of its server; makes no version.
    func setSync(_ sync: SyncFileState, pendingReset: RealmFile.PendingResetChange = .keep) throws {
        let version = snapshot.version
        var commit = RealmFile.Commit(version: version)
        commit.sync = sync
        commit.pendingReset = pendingReset
        try file.write(commit, over: version)
        current.withLock { $0.sync = sync }
    }

    private func publish(
        _ snapshot: RealmSnapshot, _ changes: StateChanges, sync: SyncFileState?, timestamp: UInt64?,
        over before: RealmSnapshot,
        withoutNotifying: Set<ObjectIdentifier> = []
    ) {
        current.withLock { current in
            current.snapshot = snapshot
            if let sync { current.sync = sync }
            if let timestamp { current.lastTimestamp = timestamp }
        }
        guard snapshot.version != before.version else { return }
        observers.notify(snapshot, changes, except: withoutNotifying)
    }

    // MARK: Registry

    private struct WeakCore { weak var core: RealmCore? }
    private static let registry = Mutex<[Location: WeakCore]>([:])

    /// The core of a file, opened if nobody has it open.
    static func open(_ location: Location, isSynced: Bool, readOnly: Bool = false) throws -> RealmCore {
        let location = normalized(location)
        return try registry.withLock { registry in
            if let core = registry[location]?.core {
                guard core.isSynced == isSynced else {
                    throw Realm.Error(
                        .incompatibleHistories, "the realm is open as a \(core.isSynced ? "synced" : "local") one",
                        fileURL: core.url)
                }
                return core
            }
            registry = registry.filter { $0.value.core != nil }
            let core = try RealmCore(location: location, isSynced: isSynced, readOnly: readOnly)
            registry[location] = WeakCore(core: core)
            return core
        }
    }

    /// Runs `body` while nobody has the realm open and nobody can open it, in this process or in another. Other realms
    /// wait to be opened meanwhile.
    /// - Returns: nil if it is open in this process.
    /// - Throws: what `body` throws; `Realm.Error` if another process has it.
    static func whileClosed<Result: Sendable>(_ files: RealmFileSet, _ body: () throws -> Result) throws -> Result? {
        try registry.withLock { _ -> Result? in
            guard !files.isOpen else { return nil }
            guard FileManager.default.fileExists(atPath: files.main.deletingLastPathComponent().path) else {
                return try body()
            }
            let lock = try FileLock(OpenFiles.canonical(files.main), code: .incompatibleLockFile)
            defer { if !files.exists { lock.removeFile() } }
            return try body()
        }
    }

    /// The next opener gets a new core; for a file that was replaced.
    static func forget(_ location: Location) { registry.withLock { $0[normalized(location)] = nil } }

    private static func normalized(_ location: Location) -> Location {
        guard case .file(let url) = location else { return location }
        return .file(OpenFiles.canonical(url))
    }
}
