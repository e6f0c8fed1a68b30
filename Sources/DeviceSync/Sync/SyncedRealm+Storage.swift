internal import Logging
import SyncModel
internal import SyncProtocol

/// What this device could not do: a full disk, a file that is locked, a failing drive. The server has no part in that, and
/// nothing is given up for it: the sessions say goodbye, the realm keeps what it has, and starts again later.
extension SyncedRealm {
    /// Ends the session that was at work.
    func interrupt(
        _ role: Role, _ error: any Error, _ work: StorageWork, on connection: isolated SyncConnection
    ) {
        endSessions(on: connection)
        // Trying again would not help a damaged copy, and what is in it can be downloaded again.
        let isDamage = (error as? Realm.Error)?.code == .invalidDatabase || FileFailure.isDamage(error)
        perform(reset.interrupted(freshIsDamaged: role == .fresh && isDamage), on: connection)
        startLater(error, work, on: connection)
    }

    func startLater(_ error: any Error, _ work: StorageWork, on connection: isolated SyncConnection) {
        guard
            case .after(let delay) = backoff.next(
                after: .sessionError(.otherSessionError), using: &connection.random)
        else { return }
        connection.logger.error(
            "syncing is interrupted and tried again: see that the disk has room and that nothing else uses the file",
            metadata: [
                "realm": "\(session.path)", "doing": "\(work.rawValue)", "error": "\(error)", "retry_in": "\(delay)",
            ])
        let told = SyncError(
            .clientInternalError, "\(work.rawValue): \(error). It is tried again until it works; nothing is lost",
            isFatal: false)
        if interrupted.isEmpty { report(told, on: connection) }
        waits.connectionFailed(told)
        interrupted.insert(work)
        activity = .waitingToStart
        retry(after: delay, on: connection)
    }

    /// Everything that the server had is here: if that is what an opening with `.once` waits for, no later one has to.
    func noteFirstDownload() {
        guard core.sync.awaitsFirstDownload == true, hasInitialSubscriptions else { return }
        // If it cannot be kept, the next one waits for another mark.
        try? core.updateSync { $0.awaitsFirstDownload = false }
    }

    /// Whether a flexible realm has what it subscribes to. Set 0 has no objects; the initial subscriptions come after it.
    private var hasInitialSubscriptions: Bool {
        guard isFlexible else { return true }
        let latest = core.subscriptions.latest
        return latest.state == .complete
            && (latest.version > 0 || configuration.syncConfiguration?.initialSubscriptions == nil)
    }

    /// The storage has done what it may have failed at before. Other work that succeeds says nothing about that: a history
    /// that cannot be read does not keep a DOWNLOAD from being stored.
    func succeeded(at work: StorageWork) {
        guard interrupted.remove(work) != nil, interrupted.isEmpty else { return }
        backoff.reset()
    }
}
