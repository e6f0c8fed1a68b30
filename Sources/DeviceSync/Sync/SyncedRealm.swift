internal import Changesets
internal import Foundation
internal import Logging
internal import Merge
internal import RealmState
import SyncModel
internal import SyncProtocol

/// A realm that syncs over a connection: all that the connection knows of the realm beside the state machines of its
/// sessions. Confined to the connection's queue.
final class SyncedRealm {
    let session: SyncSession
    let core: RealmCore
    var configuration: Realm.Configuration
    let partitionPath: String

    var mainIdent: SessionIdent?
    var freshIdent: SessionIdent?
    var lastMark: RequestIdent = 0
    /// The app asked for silence.
    var isSuspended = false
    /// An error or a logout ended the session.
    var isStopped = false
    var stopError: (any Error)?
    var reset = ResetMachine()
    let resetFiles: ResetFiles
    var backoff = Backoff<RetryReason>()
    var retryTimer: UInt64 = 0
    /// What this device's storage failed at, and has not done since.
    var interrupted: Set<StorageWork> = []
    /// Without a session until `retryTimer` fires.
    var waitsToStart = false
    /// Undone writes that wait for the version that undoes them.
    var compensations: [(version: ServerVersion, error: SyncError)] = []

    /// Who follows the progress.
    var progress: [ProgressObserver] = []

    private struct Wait {
        var wait: SyncWait
        /// Of an upload: the version to get there. Of a download: the mark to be answered, nil while not yet asked.
        var target: UInt64?
    }
    private var waits: [Wait] = []

    init(
        session: SyncSession, core: RealmCore, configuration: Realm.Configuration, app: AppReference, logger: Logger
    ) {
        self.session = session
        self.core = core
        self.configuration = configuration
        let partition = configuration.syncConfiguration?.partition ?? .null
        partitionPath = partition.path
        resetFiles = ResetFiles(
            core: core, partition: partition, app: app, userID: session.userID, logger: logger)
    }

    // MARK: Waits

    func add(_ wait: SyncWait, machine: ClientSession?) {
        waits.append(Wait(wait: wait, target: wait.direction == .upload ? core.snapshot.version : nil))
    }

    /// Asks for the marks that waits still need; after a new session of the same realm, for all of them anew.
    func adoptWaits(_ machine: inout ClientSession) {
        let needed = waits.indices.filter {
            waits[$0].wait.direction == .download && (waits[$0].target ?? 0) <= lastMark.rawValue
                || waits[$0].wait.direction == .download && waits[$0].target == nil
        }
        guard !needed.isEmpty else { return }
        // A mark that this connection has still to send serves them; otherwise the server is asked once more.
        let mark = machine.hasMarkToSend ? machine.markTarget : machine.requestMark()
        for index in needed { waits[index].target = mark.rawValue }
    }

    /// A new session starts counting marks where the old one stopped; what was open is asked for anew.
    func resetMarks(after machine: ClientSession) {
        lastMark = max(lastMark, machine.markTarget)
        for index in waits.indices where waits[index].wait.direction == .download { waits[index].target = nil }
        for index in progress.indices where progress[index].direction == .download { progress[index].mark = nil }
    }

    func markReached(_ mark: RequestIdent) {
        reportCaughtUp(mark.rawValue)
        finishWaits { $0.wait.direction == .download && ($0.target.map { $0 <= mark.rawValue } ?? false) }
    }

    func checkUploadWaits() {
        reportUploads()
        guard waits.contains(where: { $0.wait.direction == .upload }), !reset.isUnderWay else { return }
        finishWaits { $0.wait.direction == .upload && isUploaded(upTo: $0.target ?? 0) }
    }

    var isUploaded: Bool { isUploaded(upTo: core.snapshot.version) }

    private func isUploaded(upTo version: UInt64) -> Bool {
        let cursor = core.sync.progress.upload.clientVersion.rawValue
        guard cursor < version else { return true }
        return (try? core.file.localEntries(after: cursor, upTo: version, limit: 1).isEmpty) ?? false
    }

    private func finishWaits(_ isDone: (Wait) -> Bool, error: (any Error)? = nil) {
        let done = waits.filter(isDone)
        waits.removeAll(where: isDone)
        for wait in done { wait.wait.completion(error) }
    }

    func failWaits(_ error: any Error) {
        if isStopped { stopError = error }
        finishWaits({ _ in true }, error: error)
    }

    /// A connection error came that will be retried; some waits do not want to wait for that.
    func connectionFailed(_ error: any Error) { finishWaits({ $0.wait.failsOnConnectionErrors }, error: error) }

    func cancelWait(_ id: UUID) { finishWaits({ $0.wait.id == id }, error: CancellationError()) }

    // MARK: History

    /// Reads the next upload off the local history.
    func scan(after cursor: UploadCursor, upTo version: ClientVersion) throws -> ClientSession.UploadScan {
        let planner = UploadPlanner(after: cursor)
        let next = try core.file.scan(after: cursor.clientVersion.rawValue, upTo: version.rawValue) { planner.next($0) }
        guard let batch = next else {
            return ClientSession.UploadScan(
                progress: UploadCursor(clientVersion: version, serverVersion: cursor.serverVersion))
        }
        var entries: [UploadedChangeset] = []
        if let first = batch.versions.first, let last = batch.versions.last {
            entries = try core.file.localEntries(after: first.rawValue - 1, upTo: last.rawValue).map { entry in
                UploadedChangeset(
                    clientVersion: ClientVersion(entry.version), serverVersion: ServerVersion(entry.remoteVersion),
                    timestamp: SyncTimestamp(rawValue: entry.originTimestamp), changeset: entry.changeset)
            }
        }
        return ClientSession.UploadScan(progress: batch.progress, entries: entries)
    }

    /// The storage has done what it may have failed at before. Other work that succeeds says nothing about that: a history
    /// that cannot be read does not keep a DOWNLOAD from being stored.
    func succeeded(at work: StorageWork) {
        guard interrupted.remove(work) != nil, interrupted.isEmpty else { return }
        backoff.reset()
    }
}
