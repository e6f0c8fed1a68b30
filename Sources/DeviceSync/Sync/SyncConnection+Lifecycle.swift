internal import Changesets
internal import Dispatch
internal import Foundation
internal import Logging
internal import SyncProtocol

extension SyncConnection {
    private var wantsConnection: Bool {
        owners.values.contains { owner in
            let phase = owner.session.machine.phase
            return phase != .suspended && phase != .ended
        }
    }

    /// Connects if some session wants to, and lets an idle connection go after a while.
    func updateConnection() {
        guard !isAbandoned else { return }
        if wantsConnection {
            lingerTimer = 0
            connect()
        } else if lifecycle.isConnected, owners.isEmpty, farewells.isEmpty, lingerTimer == 0 {
            lingerTimer = schedule(after: .milliseconds(timeouts.connectionLingerTime)) { connection, timer in
                guard connection.lingerTimer == timer, connection.owners.isEmpty else { return }
                connection.lingerTimer = 0
                connection.closeConnection()
            }
        }
        showConnectionState()
    }

    func showConnectionState() {
        let state: SyncSession.ConnectionState
        switch lifecycle.phase {
        case .connected: state = .connected
        case .connecting, .preparing: state = .connecting
        case .idle, .waiting, .stopped: state = .disconnected
        }
        for realm in realms.values where realm.isSyncing {
            realm.session.set(connection: state)
        }
    }

    // MARK: Connecting

    private func connect() {
        guard let app = app.core, let record = app.users.record(userID), record.state == .loggedIn else { return }
        perform(lifecycle.wanted(hasToken: app.hasValidToken(record)))
    }

    private func perform(_ actions: [ConnectionMachine.Action]) {
        for action in actions {
            switch action {
            case .open(let number): open(number)
            case .refreshToken: refreshToken()
            case .refreshLocation: refreshLocation()
            case .wait(let wait, let duration):
                _ = schedule(after: duration) { connection, _ in
                    connection.lifecycle.waited(wait)
                    connection.updateConnection()
                }
            case .restartSessions:
                for realm in realms.values where realm.sessions[.main] != nil { realm.restart(on: self) }
            case .stopUpload: stopLargestUpload()
            case .logOut(let reason): logOut(reason)
            case .ping: sendPing()
            }
        }
        showConnectionState()
    }

    /// The server takes no message as large as one that was sent. That can only be the largest.
    private func stopLargestUpload() {
        guard let (ident, bytes) = largestUpload, let owner = owners[ident], owner.session.role == .main else { return }
        owner.realm.stopAndReport(OversizedWrite(bytes: bytes).syncError, on: self)
    }

    private func open(_ number: UInt64) {
        guard let app = app.core, let token = app.users.record(userID)?.accessToken else { return }
        let known = app.http.knownLocation
        if known.verified { lifecycle.routeIsVerified() }
        let request = WebSocketRequest(
            url: known.location.syncURL(appID: app.id), accessToken: token,
            protocols: SubprotocolNegotiation.offer(mode: mode),
            userAgent: SDK.userAgent(of: app.syncManager.userAgent),
            headers: (app.syncManager.customRequestHeaders ?? [:])
                .merging([LogMessage.compatibilityHeader: Self.knownRules]) { $1 },
            connectTimeoutMS: timeouts.connectTimeout)
        channel = connector.connect(request) { [weak self] event in
            self?.perform { $0.handle(event, of: number) }
        }
    }

    private static let knownRules = PeerCompatibility.allCases.map(\.rawValue).joined(separator: ", ")

    private func handle(_ event: WebSocketEvent, of number: UInt64) {
        guard number == lifecycle.number, !isAbandoned else { return }
        switch event {
        case .opened(let token, let requestID):
            do {
                let version = try SubprotocolNegotiation.parseAnswer(token, mode: mode)
                opened(version, requestID)
            } catch {
                logger.error("the server chose no sync protocol", metadata: ["error": "\(error)"])
                ended(.malformedResponse)
            }
        case .message(let bytes):
            receive(bytes)
            channel?.consumed(bytes.count)
        case .drained: flush()
        case .ended(let end): ended(end)
        }
    }

    private func opened(_ version: ProtocolVersion, _ requestID: String?) {
        logger.debug("connected", metadata: ["protocol": "\(version)", "request": "\(requestID ?? "")"])
        checker = ClientConnectionChecker(mode: mode, version: version)
        encoder = MessageEncoder(mode: mode, version: version)
        parser = ServerMessageParser(mode: mode, version: version)
        compatibility = nil
        largestUpload = nil
        for realm in realms.values { realm.connected(on: self) }
        let fast = lifecycle.opened(at: Self.now, fastWithin: UInt64(timeouts.fastReconnectLimit) * 1_000_000)
        showConnectionState()
        for (ident, owner) in owners.sorted(by: { $0.key < $1.key }) {
            owner.session.machine.connected(fastReconnect: fast)
            enlist(ident)
        }
        schedule(keepalive.connected(using: &random))
        flush()
        // The last session may have gone while this was being opened.
        updateConnection()
    }

    // MARK: Losing the connection

    /// Nanoseconds of a clock that only goes forward.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private func ended(_ end: ConnectionEnd) {
        let (reaction, actions) = lifecycle.ended(end, at: Self.now, using: &random)
        disconnected()
        logger.debug("connection ended", metadata: ["reason": "\(end)", "action": "\(reaction.action)"])
        let error = connectionError(end, isFatal: reaction.report == .fatal)
        for realm in realms.values { realm.connectionFailed(error) }
        if reaction.report == .fatal, reaction.action != .logOutUser {
            for realm in realms.values where realm.sessions[.main] != nil { realm.report(error, on: self) }
        }
        perform(actions)
    }

    /// The connection is lost for a reason that its state machine is told by `event`.
    func lost(_ event: (inout ConnectionMachine, inout SystemRandomNumberGenerator) -> [ConnectionMachine.Action]) {
        let actions = event(&lifecycle, &random)
        disconnected()
        perform(actions)
    }

    /// A dead or refused connection, as the app sees it.
    private func connectionError(_ end: ConnectionEnd, isFatal: Bool) -> SyncError {
        switch end {
        case .tlsFailure: SyncError(.tlsHandshakeFailed, "the TLS handshake with the server failed", isFatal: isFatal)
        case .httpStatus(let status):
            SyncError(.connectionFailed, "the server answered the WebSocket upgrade with \(status)", isFatal: isFatal)
        default: SyncError(.connectionFailed, "the connection to the server failed: \(end)", isFatal: isFatal)
        }
    }

    /// The connection is gone: nothing more comes or goes on it.
    private func disconnected() {
        channel?.close()
        channel = nil
        keepalive.disconnected()
        lingerTimer = 0
        sendQueue.removeAll()
        farewells = [:]
        for owner in owners.values { owner.session.machine.disconnected() }
    }

    /// Closes a connection that no session needs.
    private func closeConnection() {
        lifecycle.closed()
        disconnected()
        showConnectionState()
    }

    /// Gives the connection up for a new one.
    func dropConnection() {
        guard channel != nil else { return }
        lifecycle.lost(at: Self.now)
        disconnected()
        updateConnection()
    }

    /// The app has gone over to another server: nothing of what was said to the one before counts there.
    func serverChanged() {
        perform([.restartSessions])
        dropConnection()
        reconnect()
    }

    /// Cuts waiting short.
    func retryNow() {
        lifecycle.retryNow()
        updateConnection()
    }

    /// The app asks for it: connection and sessions try now.
    func reconnect() {
        lifecycle.forgetFailures()
        for realm in realms.values {
            realm.retryNow(on: self)
        }
        if lifecycle.isConnected { sendPing() }
        retryNow()
    }

    // MARK: Tokens and locations

    /// Renews the access token; afterwards the sessions go on.
    func refreshToken() {
        guard let app = app.core else { return }
        let userID = userID
        // The connection is the owner: it takes the result up, or ignores it when it has ended.
        Task {
            do {
                _ = try await app.refreshAccessToken(userID: userID)
                self.tokenRefreshed(nil)
            } catch {
                self.tokenRefreshed(error as? AppError ?? AppError(.unknown, "\(error)"))
            }
        }
    }

    private func tokenRefreshed(_ error: AppError?) {
        guard !isAbandoned else { return }
        guard let error else {
            let actions = lifecycle.tokenAnswered(.received, using: &random)
            for realm in realms.values { realm.resumeAfterError(on: self) }
            perform(actions)
            return retryNow()
        }
        if error.httpStatusCode == 401 || error.httpStatusCode == 403 || error.code == .invalidSession {
            let reason = "the refresh token was rejected: \(error.message)"
            return perform(lifecycle.tokenAnswered(.refused(reason), using: &random))
        }
        logger.debug("could not renew the access token", metadata: ["error": "\(error.code.rawValue)"])
        for realm in realms.values { realm.connectionFailed(error) }
        perform(lifecycle.tokenAnswered(.failed, using: &random))
    }

    func refreshLocation() {
        guard let app = app.core else { return }
        // As in `refreshToken`.
        Task {
            do throws(AppError) {
                try await app.http.refreshLocation()
                self.locationRefreshed(nil)
            } catch {
                self.locationRefreshed(error)
            }
        }
    }

    private func locationRefreshed(_ error: AppError?) {
        guard !isAbandoned else { return }
        let isWanted = lifecycle.phase == .preparing
        let actions = lifecycle.locationAnswered(error == nil, using: &random)
        guard isWanted else { return }
        if let error { for realm in realms.values { realm.connectionFailed(error) } }
        perform(actions)
        updateConnection()
    }

    func logOut(_ reason: String) {
        let error = SyncError(.clientUserError, reason)
        for realm in realms.values where !realm.isStopped { realm.stopAndReport(error, on: self) }
        app.core?.endLocally(userID)
    }
}
