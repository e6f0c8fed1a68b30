internal import Logging
import SyncModel
internal import SyncProtocol

/// What errors of the server mean for a realm (docs/protocol.md, "Actions").
extension SyncedRealm {
    /// Acts on an error of one session, whose UNBIND is on the way.
    func sessionError(
        _ code: ErrorCode, _ body: JSONErrorBody, _ role: OpenSession.Role, on connection: isolated SyncConnection
    ) {
        connection.logger.info(
            "session error",
            metadata: [
                "realm": "\(session.path)", "code": "\(code)", "action": "\(body.action.wireName)",
                "text": "\(body.message)",
            ])
        if move(code, body, on: connection) { return }
        if role == .fresh { return reset.freshFailed(code, body, on: connection) }
        if code == .compensatingWrite {
            let reached = core.sync.progress.download.serverVersion
            for error in compensations.announce(body, reached: reached) { report(error, on: connection) }
            return
        }
        if code == .schemaVersionChanged { return schemaChange.demanded(code, body) }
        if code.entry?.sessionContinues == true { return }
        act(on: code, body, endsSession: true, on: connection)
    }

    /// - Parameter endsSession: whether the error is of the realm's own session; if not, of the whole connection.
    func act(
        on code: ErrorCode, _ body: JSONErrorBody, endsSession: Bool, on connection: isolated SyncConnection
    ) {
        let action = body.action.effective
        let error = SyncError(code, body)
        switch action {
        case .transient:
            waits.connectionFailed(error)
            if endsSession { retry(code, body, on: connection) }
        case .warning:
            report(error, on: connection)
            if !body.tryAgain {
                waits.fail(error)
            } else if endsSession {
                retry(code, body, on: connection)
            }
        case .clientReset, .clientResetNoRecovery:
            reset.begin(ResetDemand(code, body, isOfSession: endsSession), on: connection)
        case .refreshUser: connection.refreshToken()
        case .refreshLocation:
            connection.lifecycle.locationIsOutdated()
            restart(on: connection)
            connection.dropConnection()
        case .logOutUser: connection.logOut(body.message)
        case .deleteRealm:
            let error = SyncError(code, body, stopsSession: true)
            let withToken = connection.app.core?.deletionError(error, core, userID: session.userID)
            stopAndReport(withToken ?? error, on: connection)
        case .applicationBug, .protocolViolation, .migrateToFLX, .revertToPBS, .migrateSchema, .unknown:
            stopAndReport(SyncError(code, body, stopsSession: true), on: connection)
        }
    }

    /// Ends the session of a file of another schema version, once everything in it is uploaded. An app that is opening the realm
    /// hears of it and has the file made anew; another one hears of it by its error handler, and has it made anew by opening it.
    func finishSchemaChange(on connection: isolated SyncConnection) {
        guard let error = schemaChange.error, let machine = sessions[.main]?.machine, machine.isUploadAllowed,
            !machine.isMarkOpen, isUploaded
        else { return }
        do {
            try core.updateSync { $0.isOutdated = true }
        } catch {
            return interrupt(.startOver, error, on: connection)
        }
        connection.logger.notice(
            "a realm's file is of another schema version and is made anew when it is next opened",
            metadata: ["realm": "\(session.path)", "text": "\(error.message)"])
        if !waits.hasWaits { report(error, on: connection) }
        stop(error, on: connection)
    }

    func stopAndReport(_ error: SyncError, on connection: isolated SyncConnection) {
        report(error, on: connection)
        stop(error, on: connection)
    }

    /// Lets the session that an error has ended go on after a while.
    func retry(_ code: ErrorCode, _ body: JSONErrorBody, on connection: isolated SyncConnection) {
        guard let delay = retries.delay(after: code, body, using: &connection.random) else { return }
        retry(after: delay, on: connection)
    }

    /// Goes over to the other sync mode, to which the app has moved: on the connection of that mode, by a client reset.
    /// - Returns: false if the error says no such thing, or cannot be about this realm.
    private func move(_ code: ErrorCode, _ body: JSONErrorBody, on connection: isolated SyncConnection) -> Bool {
        guard let app = connection.app.core,
            let move = ModeMove(demandedBy: code, body, of: target, after: core.sync.move)
        else { return false }
        do {
            try core.updateSync { $0.move = move }
        } catch {
            interrupt(.startOver, error, on: connection)
            return true
        }
        connection.logger.notice(
            "the app has moved to the other sync mode, and the realm goes over to it",
            metadata: ["realm": "\(session.path)", "text": "\(body.message)"])
        leave(connection, for: app.sync)
        return true
    }

    /// Tells the app of any error but a manual client reset.
    func report(_ error: SyncError, on connection: isolated SyncConnection) {
        connection.app.core?.deliver(error, session, handler: nil)
    }
}
