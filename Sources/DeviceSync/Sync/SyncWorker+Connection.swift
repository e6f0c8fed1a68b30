internal import Changesets
internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

extension SyncWorker {
    private var wantsConnection: Bool {
        slots.values.contains { $0.machine.phase != .suspended && $0.machine.phase != .ended }
    }

    /// Connects if some session wants to, and lets an idle connection go after a while.
    func updateConnection() {
        guard !isAbandoned else { return }
        if wantsConnection {
            lingerTimer = 0
            if case .idle = connection { connect() }
        } else if case .connected = connection, slots.isEmpty, farewells.isEmpty, lingerTimer == 0 {
            lingerTimer = schedule(after: Double(timeouts.connectionLingerTime) / 1000) { worker, timer in
                guard worker.lingerTimer == timer, worker.slots.isEmpty else { return }
                worker.lingerTimer = 0
                worker.closeConnection()
            }
        }
        showConnectionState()
    }

    func showConnectionState() {
        let state: SyncSession.ConnectionState
        switch connection {
        case .connected: state = .connected
        case .connecting, .preparing: state = .connecting
        case .idle, .waiting, .stopped: state = .disconnected
        }
        for driver in drivers.values where !driver.isStopped && !driver.isSuspended {
            driver.session.set(connection: state)
        }
    }

    // MARK: Connecting

    private func connect() {
        guard let app = app.core, let record = app.users.record(userID), record.state == .loggedIn else { return }
        if AccessToken(record.accessToken)?.isExpired() ?? true {
            connection = .preparing
            return refreshToken(thenReconnect: false)
        }
        if needsLocation {
            connection = .preparing
            return refreshLocation()
        }
        open(app, record.accessToken)
    }

    private func open(_ app: AppCore, _ token: String) {
        connectionNumber += 1
        let number = connectionNumber
        connection = .connecting
        showConnectionState()
        let known = app.http.knownLocation
        routeIsVerified = routeIsVerified || known.verified
        let request = WebSocketRequest(
            url: known.location.syncURL(appID: app.id), accessToken: token,
            protocols: SubprotocolNegotiation.offer(mode: .partition),
            headers: (app.syncManager.customRequestHeaders ?? [:])
                .merging([LogMessage.compatibilityHeader: Self.knownRules]) { $1 },
            connectTimeoutMS: timeouts.connectTimeout)
        channel = connector.connect(request) { [weak self] event in
            self?.perform { $0.handle(event, of: number) }
        }
    }

    private static let knownRules = PeerCompatibility.allCases.map(\.rawValue).joined(separator: ", ")

    private func handle(_ event: WebSocketEvent, of number: UInt64) {
        guard number == connectionNumber, !isAbandoned else { return }
        switch event {
        case .opened(let token, let requestID):
            do {
                let version = try SubprotocolNegotiation.parseAnswer(token, mode: .partition)
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
        checker = ClientConnectionChecker(mode: .partition, version: version)
        encoder = MessageEncoder(mode: .partition, version: version)
        parser = ServerMessageParser(mode: .partition, version: version)
        compatibility = nil
        for driver in drivers.values { perform(driver.reset.connected(), driver) }
        connection = .connected
        routeIsVerified = true
        let fast =
            disconnectedAt.map {
                DispatchTime.now().uptimeNanoseconds - $0.uptimeNanoseconds < UInt64(timeouts.fastReconnectLimit)
                    * 1_000_000
            } ?? false
        showConnectionState()
        for ident in slots.keys.sorted() {
            slots[ident]?.machine.connected(fastReconnect: fast)
            enlist(ident)
        }
        startPings()
        flush()
    }

    // MARK: Losing the connection

    private func ended(_ end: ConnectionEnd) {
        let wasConnected = if case .connected = connection { true } else { false }
        lost()
        let reaction = end.reaction(routeIsVerified: routeIsVerified)
        logger.debug("connection ended", metadata: ["reason": "\(end)", "action": "\(reaction.action)"])
        if reaction.alsoRefreshesLocation { needsLocation = true }
        let error = connectionError(end, isFatal: reaction.report == .fatal)
        for driver in drivers.values { driver.connectionFailed(error) }
        if reaction.report == .fatal, reaction.action != .logOutUser {
            for driver in drivers.values where driver.mainIdent != nil { report(error, driver) }
        }
        switch reaction.action {
        case .wait, .reconnect: waitToReconnect(.connectionEnd(wasConnected ? end : .unreachable))
        case .refreshUser:
            connection = .preparing
            refreshToken(thenReconnect: true)
        case .refreshLocation:
            restartSessions()
            connection = .preparing
            refreshLocation()
        case .logOutUser:
            connection = .idle
            logOut("the server refused the user")
        case .clientReset:
            waitToReconnect(.connectionEnd(end))
            for driver in drivers.values
            where !driver.reset.isUnderWay && !driver.isSuspended && !driver.isStopped {
                beginReset(
                    driver, .clientReset, code: 0, message: "a message was larger than the server accepts")
            }
        }
        showConnectionState()
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

    func lost() {
        connectionNumber += 1
        channel?.close()
        channel = nil
        if case .connected = connection { disconnectedAt = .now() }
        connection = .idle
        pingSent = nil
        pingTimer = 0
        lingerTimer = 0
        sendQueue = []
        queued = []
        farewells = [:]
        for ident in slots.keys { slots[ident]?.machine.disconnected() }
    }

    /// On purpose: nobody needs it.
    private func closeConnection() {
        lost()
        disconnectedAt = nil
        showConnectionState()
    }

    func dropConnection() {
        guard channel != nil else { return }
        lost()
        updateConnection()
    }

    private func waitToReconnect(_ reason: RetryReason) {
        waitToReconnect(backoff.next(after: reason, using: &random))
    }

    func waitToReconnect(_ delay: Backoff<RetryReason>.Delay) {
        guard case .after(let duration) = delay else {
            connection = .stopped
            return showConnectionState()
        }
        let timer = schedule(after: duration.seconds) { worker, number in
            guard case .waiting(number) = worker.connection else { return }
            worker.connection = .idle
            worker.updateConnection()
        }
        connection = .waiting(timer)
        showConnectionState()
    }

    /// Cuts waiting short.
    func retryNow() {
        switch connection {
        case .waiting, .stopped:
            connection = .idle
            backoff.reset()
        default: break
        }
        updateConnection()
    }

    /// The app asks for it: connection and sessions try now.
    func reconnect() {
        backoff.reset()
        for driver in drivers.values {
            driver.backoff.reset()
            resumeAfterError(driver, driver.retryTimer)
        }
        if case .connected = connection { sendPing() }
        retryNow()
    }

    // MARK: Tokens and locations

    /// Renews the access token; afterwards the sessions go on.
    func refreshToken(thenReconnect: Bool) {
        guard let app = app.core else { return }
        let userID = userID
        // The worker is the owner: it takes the result up, or ignores it when it has ended.
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
        if let error, error.httpStatusCode == 401 || error.httpStatusCode == 403 || error.code == .invalidSession {
            if case .preparing = connection { connection = .idle }
            return logOut("the refresh token was rejected: \(error.message)")
        }
        backoff.reset()
        if let error {
            logger.debug("could not renew the access token", metadata: ["error": "\(error.code.rawValue)"])
            for driver in drivers.values { driver.connectionFailed(error) }
            if case .preparing = connection { waitToReconnect(.connectionEnd(.unreachable)) }
            return
        }
        for driver in drivers.values { resumeAfterError(driver, driver.retryTimer) }
        if case .preparing = connection { connection = .idle }
        if case .connected = connection { sendPing() }
        retryNow()
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
        if error == nil { needsLocation = false }
        guard case .preparing = connection else { return }
        connection = .idle
        if let error {
            for driver in drivers.values { driver.connectionFailed(error) }
            waitToReconnect(.connectionEnd(.unreachable))
        } else {
            routeIsVerified = true
            updateConnection()
        }
    }

    /// New sessions in place of the present ones, as after a change of server.
    func restartSessions() {
        for driver in drivers.values where driver.mainIdent != nil { restart(driver) }
    }

    func restart(_ driver: SessionDriver) {
        // A reset goes on from its fresh copy, as on a new connection.
        guard !driver.reset.isUnderWay else { return perform(driver.reset.connected(), driver) }
        endMain(driver)
        start(driver, holdsIdent: false)
    }

    func logOut(_ reason: String) {
        let error = SyncError(.clientUserError, reason)
        for driver in drivers.values where !driver.isStopped {
            report(error, driver)
            stop(driver, error)
        }
        app.core?.endLocally(
            userID, as: app.core?.users.record(userID)?.profile.isAnonymous == true ? .removed : .loggedOut)
    }
}
