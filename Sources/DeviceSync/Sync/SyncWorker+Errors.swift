internal import Changesets
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

extension SyncWorker {
    /// An error that speaks of the whole connection: it closes, and every session hears of it.
    func connectionError(_ code: ErrorCode, _ body: JSONErrorBody) {
        refused(code, body)
        for driver in drivers.values where driver.mainIdent != nil {
            act(on: body.action.effective, driver, nil, code, body)
        }
    }

    /// An error of one session; its UNBIND is on the way.
    func sessionError(_ ident: SessionIdent, _ code: ErrorCode, _ body: JSONErrorBody) {
        guard let slot = slots[ident] else { return }
        logger.info(
            "session error",
            metadata: [
                "session": "\(ident)", "code": "\(code)", "action": "\(body.action.wireName)",
                "text": "\(body.message)",
            ])
        if slot.role == .fresh { return freshFailed(slot.driver, code, body) }
        guard slot.driver.mainIdent == ident, !slot.driver.isSuspended, !slot.driver.isStopped else { return }
        if code == .compensatingWrite { return compensate(slot.driver, body) }
        if code.entry?.sessionContinues == true { return }
        act(on: body.action.effective, slot.driver, ident, code, body)
    }

    private func act(
        on action: ErrorAction, _ driver: SessionDriver, _ ident: SessionIdent?, _ code: ErrorCode,
        _ body: JSONErrorBody
    ) {
        let error = Self.error(code, body)
        switch action {
        case .transient:
            driver.connectionFailed(error)
            if ident != nil { scheduleResume(driver, code, body) }
        case .warning:
            report(error, driver)
            if body.tryAgain {
                if ident != nil { scheduleResume(driver, code, body) }
            } else {
                driver.failWaits(error)
            }
        case .clientReset, .clientResetNoRecovery:
            beginReset(
                driver, action == .clientReset ? .clientReset : .clientResetNoRecovery, code: code.rawValue,
                message: body.message, logURL: body.logURL,
                integrated: ident == nil ? nil : body.integratedClientVersion)
        case .refreshUser: refreshToken()
        case .refreshLocation:
            connection.locationIsOutdated()
            restart(driver)
            dropConnection()
        case .logOutUser: logOut(body.message)
        case .deleteRealm:
            let error = Self.error(code, body, stopsSession: true)
            let told = app.core?.deletionError(error, driver.core, userID: userID) ?? error
            report(told, driver)
            stop(driver, told)
        case .applicationBug, .protocolViolation, .migrateToFLX, .revertToPBS, .migrateSchema, .unknown:
            let error = Self.error(code, body, stopsSession: true)
            report(error, driver)
            stop(driver, error)
        }
    }

    private func compensate(_ driver: SessionDriver, _ body: JSONErrorBody) {
        let writes = (body.rejectedUpdates ?? []).map {
            CompensatingWriteInfo(objectType: $0.table, primaryKey: AnyRealmValue($0.primaryKey), reason: $0.reason)
        }
        let error = SyncError(
            .writeRejected, body.message, logURL: body.logURL, wireCode: ErrorCode.compensatingWrite.rawValue,
            isFatal: false, compensatingWrites: writes
        )
        driver.compensations.append((body.compensatingWriteServerVersion ?? 0, error))
    }

    // MARK: Trying again

    func scheduleResume(_ driver: SessionDriver, _ code: ErrorCode, _ body: JSONErrorBody) {
        let delay = driver.backoff.next(
            after: .sessionError(code), code: code, tryAgain: body.tryAgain, peerPolicy: body.backoff, using: &random)
        guard case .after(let duration) = delay else { return }
        driver.retryTimer = schedule(after: duration.seconds) { [session = driver.session] worker, timer in
            guard let driver = worker.driver(of: session) else { return }
            worker.resumeAfterError(driver, timer)
        }
    }

    func resumeAfterError(_ driver: SessionDriver, _ timer: UInt64) {
        guard driver.retryTimer == timer else { return }
        startAgain(driver)
        for ident in [driver.mainIdent, driver.freshIdent].compactMap({ $0 })
        where slots[ident]?.machine.phase == .suspended {
            flush()
            slots[ident]?.machine.resume()
            enlist(ident)
        }
        updateConnection()
    }

    // MARK: Telling the app

    /// - Parameter stopsSession: whether nothing is tried again here, whatever the server says of it.
    static func error(_ code: ErrorCode, _ body: JSONErrorBody, stopsSession: Bool = false) -> SyncError {
        let kind: SyncError.Code
        switch (code, body.action.effective) {
        case (.permissionDenied, _): kind = .permissionDeniedError
        case (.badQuery, _): kind = .invalidFlexibleSyncSubscriptions
        case (_, .warning): kind = .serverWarning
        case (_, .logOutUser): kind = .clientUserError
        case (_, .protocolViolation): kind = .clientInternalError
        case (_, .clientReset), (_, .clientResetNoRecovery): kind = .clientResetError
        default: kind = .clientSessionError
        }
        return SyncError(
            kind, body.message, name: code.entry?.name, logURL: body.logURL, wireCode: code.rawValue,
            isFatal: stopsSession || !body.tryAgain)
    }

    /// Any error but a manual client reset: to the app's one handler.
    func report(_ error: SyncError, _ driver: SessionDriver) {
        app.core?.deliver(error, driver.session, handler: nil)
    }
}

extension AppCore {
    /// Calls a handler with an error: the one given, else the sync manager's as it is at that moment.
    func deliver(_ error: SyncError, _ session: SyncSession, handler: ErrorReportingBlock?) {
        let manager = syncManager
        let logger = logger
        manager.callbackQueue.async {
            guard let handler = handler ?? manager.errorHandler else {
                logger.error("sync error without a handler", metadata: ["error": "\(error)"])
                return
            }
            handler(error, session)
        }
    }
}

extension AnyRealmValue {
    init(_ key: RejectedUpdate.PrimaryKey) {
        switch key {
        case .null: self = .none
        case .int(let value): self = .int(Int(value))
        case .string(let value): self = .string(value)
        case .objectId(let bytes):
            let text = bytes.map { hexadecimal(UInt64($0), digits: 2) }.joined()
            self = (try? ObjectId(string: text)).map(AnyRealmValue.objectId) ?? .none
        case .uuid(let bytes):
            let word = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            self = .uuid(UUIDValue(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8))).uuid)
        }
    }
}
