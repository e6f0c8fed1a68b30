internal import Changesets
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

extension SyncConnection {
    /// An error that speaks of the whole connection: it closes, and every session hears of it.
    func connectionError(_ code: ErrorCode, _ body: JSONErrorBody) {
        refused(code, body)
        for realm in realms.values where realm.mainIdent != nil {
            act(on: body.action.effective, realm, nil, code, body)
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
        if slot.role == .fresh { return freshFailed(slot.realm, code, body) }
        guard slot.realm.mainIdent == ident, !slot.realm.isSuspended, !slot.realm.isStopped else { return }
        if code == .compensatingWrite { return compensate(slot.realm, body) }
        if code.entry?.sessionContinues == true { return }
        act(on: body.action.effective, slot.realm, ident, code, body)
    }

    private func act(
        on action: ErrorAction, _ realm: SyncedRealm, _ ident: SessionIdent?, _ code: ErrorCode,
        _ body: JSONErrorBody
    ) {
        let error = Self.error(code, body)
        switch action {
        case .transient:
            realm.connectionFailed(error)
            if ident != nil { scheduleResume(realm, code, body) }
        case .warning:
            report(error, realm)
            if body.tryAgain {
                if ident != nil { scheduleResume(realm, code, body) }
            } else {
                realm.failWaits(error)
            }
        case .clientReset, .clientResetNoRecovery:
            beginReset(
                realm, action == .clientReset ? .clientReset : .clientResetNoRecovery, code: code.rawValue,
                message: body.message, logURL: body.logURL,
                integrated: ident == nil ? nil : body.integratedClientVersion)
        case .refreshUser: refreshToken()
        case .refreshLocation:
            lifecycle.locationIsOutdated()
            restart(realm)
            dropConnection()
        case .logOutUser: logOut(body.message)
        case .deleteRealm:
            let error = Self.error(code, body, stopsSession: true)
            let told = app.core?.deletionError(error, realm.core, userID: userID) ?? error
            report(told, realm)
            stop(realm, told)
        case .applicationBug, .protocolViolation, .migrateToFLX, .revertToPBS, .migrateSchema, .unknown:
            let error = Self.error(code, body, stopsSession: true)
            report(error, realm)
            stop(realm, error)
        }
    }

    private func compensate(_ realm: SyncedRealm, _ body: JSONErrorBody) {
        let writes = (body.rejectedUpdates ?? []).map {
            CompensatingWriteInfo(objectType: $0.table, primaryKey: AnyRealmValue($0.primaryKey), reason: $0.reason)
        }
        let error = SyncError(
            .writeRejected, body.message, logURL: body.logURL, wireCode: ErrorCode.compensatingWrite.rawValue,
            isFatal: false, compensatingWrites: writes
        )
        realm.compensations.append((body.compensatingWriteServerVersion ?? 0, error))
    }

    // MARK: Trying again

    func scheduleResume(_ realm: SyncedRealm, _ code: ErrorCode, _ body: JSONErrorBody) {
        let delay = realm.backoff.next(
            after: .sessionError(code), code: code, tryAgain: body.tryAgain, peerPolicy: body.backoff, using: &random)
        guard case .after(let duration) = delay else { return }
        realm.retryTimer = schedule(after: duration.seconds) { [session = realm.session] connection, timer in
            guard let realm = connection.realm(of: session) else { return }
            connection.resumeAfterError(realm, timer)
        }
    }

    func resumeAfterError(_ realm: SyncedRealm, _ timer: UInt64) {
        guard realm.retryTimer == timer else { return }
        startAgain(realm)
        for ident in [realm.mainIdent, realm.freshIdent].compactMap({ $0 })
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
    func report(_ error: SyncError, _ realm: SyncedRealm) {
        app.core?.deliver(error, realm.session, handler: nil)
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
