internal import Logging
import SyncModel
internal import SyncProtocol

/// What a realm's sessions say to the server, and hear from it.
extension SyncedRealm {
    func nextMessage(_ session: OpenSession, on connection: isolated SyncConnection) -> ClientMessage? {
        do throws(SessionFailure) {
            if try session.resumeBootstrap() { settleSubscriptions(of: session) }
            return try session.nextMessage()
        } catch {
            failed(session, error, on: connection)
            return nil
        }
    }

    func receive(_ message: ServerMessage, _ session: OpenSession, on connection: isolated SyncConnection) {
        do throws(SessionFailure) {
            let event = try session.receive(message, connection.checker.version, connection.compatibility)
            guard let event else { return }
            settleSubscriptions(of: session)
            switch event {
            case .identified: break
            case .integrated(let download): integrated(download, session, on: connection)
            case .markReached(let mark):
                switch session.role {
                case .main: markReached(mark, on: connection)
                case .fresh: try reset.freshReachedMark(session, on: connection)
                }
            case .refused(let version, let reason): refused(version, reason, session, on: connection)
            case .failed(let code, let body):
                // UNBIND goes out before what takes this session's place.
                connection.enlist(session.machine.ident)
                sessionError(code, body, session.role, on: connection)
            }
        } catch {
            failed(session, error, on: connection)
        }
    }

    private func integrated(_ download: Download, _ session: OpenSession, on connection: isolated SyncConnection) {
        // Without anything to upload the history is not read again.
        if retries.isInterrupted(.upload), isUploaded { retries.succeeded(at: .upload) }
        guard session.role == .main else { return }
        for error in compensations.reach(core.sync.progress.download.serverVersion) { report(error, on: connection) }
        waits.downloaded(download)
        checkUploadWaits()
        reset.maybeAcknowledged()
        guard !schemaChange.isDemanded else { return finishSchemaChange(on: connection) }
        instancesGone(on: connection)
    }

    private func markReached(_ mark: RequestIdent, on connection: isolated SyncConnection) {
        guard !schemaChange.isDemanded else { return finishSchemaChange(on: connection) }
        noteFirstDownload()
        waits.markReached(mark)
        reset.maybeAcknowledged()
    }

    /// Everything that the server had is here: if that is what an opening with `.once` waits for, no later one has to.
    private func noteFirstDownload() {
        guard core.sync.awaitsFirstDownload == true, hasInitialSubscriptions else { return }
        // If it cannot be kept, the next one waits for another mark.
        try? core.updateSync { $0.awaitsFirstDownload = false }
    }

    // MARK: Subscriptions

    /// The app has changed its subscriptions.
    func subscriptionsChanged(on connection: isolated SyncConnection) {
        subscriptionsMoved()
        if core.subscriptions.sets.count > SubscriptionSets.room {
            let asked = sessions[.main]?.machine.askedFor ?? 0
            do {
                try core.updateSubscriptions { $0.forgetSuperseded(after: asked) }
                retries.succeeded(at: .subscriptions)
                subscriptionsMoved()
            } catch {
                interrupt(.subscriptions, error, on: connection)
            }
        }
        localVersion(on: connection)
    }

    /// Tells the session and those who wait what has become of the realm's subscription sets.
    func subscriptionsMoved() {
        guard isFlexible else { return }
        sessions[.main]?.subscriptionsMoved()
        waits.settle(with: core.subscriptions)
    }

    /// Tells those who wait what a session has made of the realm's subscription sets.
    private func settleSubscriptions(of session: OpenSession) {
        if isFlexible, session.role == .main { waits.settle(with: core.subscriptions) }
    }

    /// Whether a flexible realm has what it subscribes to. Set 0 has no objects; the initial subscriptions come after it.
    private var hasInitialSubscriptions: Bool {
        guard isFlexible else { return true }
        let latest = core.subscriptions.latest
        return latest.state == .complete
            && (latest.version > 0 || configuration.syncConfiguration?.initialSubscriptions == nil)
    }

    /// The server refuses a set; the one in force stays in force.
    private func refused(
        _ version: QueryVersion, _ reason: String, _ session: OpenSession, on connection: isolated SyncConnection
    ) {
        connection.logger.info(
            "the server refuses a subscription set",
            metadata: ["realm": "\(self.session.path)", "set": "\(version)", "reason": "\(reason)"])
        if session.role == .fresh {
            let body = JSONErrorBody(message: reason, action: .applicationBug, tryAgain: false)
            return reset.freshFailed(.badQuery, body, on: connection)
        }
        report(
            SyncError(
                .invalidFlexibleSyncSubscriptions, reason, name: ErrorCode.badQuery.entry?.name,
                wireCode: ErrorCode.badQuery.rawValue, isFatal: false), on: connection)
    }

    // MARK: Failures

    private func failed(
        _ session: OpenSession, _ failure: SessionFailure, on connection: isolated SyncConnection
    ) {
        switch failure {
        case .storage(let work, let error): interrupt(work, error, role: session.role, on: connection)
        case .download(let error): integrationFailed(session, error, on: connection)
        case .oversized(let write): stopAndReport(write.syncError, on: connection)
        }
    }

    /// What the server sent is wrong, and would be the next time too. The server answers with a client reset.
    private func integrationFailed(
        _ session: OpenSession, _ error: IntegrationError, on connection: isolated SyncConnection
    ) {
        connection.logger.error("a download could not be integrated", metadata: ["error": "\(error.message)"])
        session.machine.integrationFailed(error.code, error.message)
        guard session.role == .main else { return }
        report(
            SyncError(.clientInternalError, error.message, wireCode: error.code.rawValue, isFatal: false),
            on: connection)
    }

    /// Ends the sessions for what this device could not do: a full disk, a file that is locked, a failing drive. The server has no part in
    /// that, and nothing is given up for it: the sessions say goodbye, the realm keeps what it has, and starts again later.
    /// - Parameter role: that of the session that was at work.
    func interrupt(
        _ work: StorageWork, _ error: any Error, role: OpenSession.Role = .main, on connection: isolated SyncConnection
    ) {
        endSessions(on: connection)
        reset.interrupted(role, error, on: connection)
        startLater(error, work, on: connection)
    }

    /// Starts again later, without a session until then.
    func startLater(_ error: any Error, _ work: StorageWork, on connection: isolated SyncConnection) {
        guard let (delay, isFirst) = retries.failed(at: work, using: &connection.random) else { return }
        connection.logger.error(
            "syncing is interrupted and tried again: see that the disk has room and that nothing else uses the file",
            metadata: [
                "realm": "\(session.path)", "doing": "\(work.rawValue)", "error": "\(error)", "retry_in": "\(delay)",
            ])
        let told = SyncError(
            .clientInternalError, "\(work.rawValue): \(error). It is tried again until it works; nothing is lost",
            isFatal: false)
        if isFirst { report(told, on: connection) }
        waits.connectionFailed(told)
        retry(after: delay, withoutSession: true, on: connection)
    }
}
