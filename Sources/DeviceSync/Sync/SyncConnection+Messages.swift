internal import Changesets
internal import Logging
import SyncModel
internal import SyncProtocol

extension SyncConnection {
    // MARK: Sending

    /// Sends what there is, one message a session at a time.
    func flush() {
        guard lifecycle.isConnected, !isFlushing else { return }
        isFlushing = true
        defer { isFlushing = false }
        while lifecycle.isConnected, channel?.isFull != true, let ident = sendQueue.next() {
            guard let message = nextMessage(of: ident) else { continue }
            guard send(message, ident) else { return }
            sendQueue.append(ident)
            if case .bind = message, let owner = owners[ident], owner.session.role == .main {
                owner.realm.bindSent(on: self)
            }
        }
    }

    private func nextMessage(of ident: SessionIdent) -> ClientMessage? {
        if let owner = owners[ident] { return owner.realm.nextMessage(owner.session, on: self) }
        // A session that is about to leave has at most UNBIND to send.
        let message = farewells[ident]?.nextMessage { cursor, _ in ClientSession.UploadScan(progress: cursor) }
        forgetIfLeft(ident)
        return message
    }

    private func send(_ message: ClientMessage, _ ident: SessionIdent) -> Bool {
        do {
            if case .ident(let own) = message {
                let machine = owners[ident]?.session.machine
                try checker.sendIdent(
                    own, upload: machine?.progress.upload ?? .init(), newestClientVersion: machine?.newestVersion)
            } else {
                try checker.send(message)
            }
            let bytes = try encoder.encode(message)
            logger.trace("sending", metadata: ["message": "\(message.name)", "session": "\(ident)"])
            channel?.send(bytes)
            if case .upload(let upload) = message { note(upload) }
            return true
        } catch {
            logger.error("a message could not be sent", metadata: ["error": "\(error)"])
            violation(SyncProtocolError(.otherError, "the client was about to break the protocol"))
            return false
        }
    }

    private func note(_ upload: Upload) {
        let bytes = upload.entries.reduce(0) { $0 + $1.changeset.count }
        // The later of two equal uploads is kept: the session that sent the other may be gone.
        if bytes > 0, bytes >= largestUpload?.bytes ?? 0 { largestUpload = (upload.session, bytes) }
    }

    private func forgetIfLeft(_ ident: SessionIdent) {
        guard farewells[ident]?.hasLeft == true else { return }
        farewells[ident] = nil
        updateConnection()
    }

    // MARK: Receiving

    func receive(_ bytes: [UInt8]) {
        let message: ServerMessage
        do {
            message = try parser.parse(bytes)
            if let ident = message.session, let owner = owners[ident], owner.session.role == .main {
                checker.setNewestClientVersion(owner.realm.core.snapshot.version, for: ident)
            }
            try checker.receive(message)
        } catch {
            return violation(error)
        }
        logger.trace("received", metadata: ["message": "\(message.name)"])
        switch message {
        case .pong:
            if let wait = keepalive.ponged(at: Self.now, using: &random) { schedule(wait) }
        case .logMessage(let message):
            // Sent before anything that is applied by it; what this client does not know is refused at BIND.
            if let name = message.compatibility { compatibility = PeerCompatibility(rawValue: name) }
            logger.debug(
                "server", metadata: ["text": "\(message.text ?? "")", "co_id": "\(message.connectionID ?? "")"])
        case .jsonError(let session, let code, let body) where session.isConnection: refused(code, body)
        case .error(let error) where error.session.isConnection:
            refused(error.code, JSONErrorBody(code: error.code, message: error.message, action: .applicationBug))
        default:
            guard let ident = message.session else { return }
            // What comes for a session that is leaving concerns nothing but the session's end.
            _ = farewells[ident]?.receive(message)
            forgetIfLeft(ident)
            if let owner = owners[ident] { owner.realm.receive(message, owner.session, on: self) }
            enlist(ident)
        }
    }

    /// An error that speaks of the whole connection: the connection closes, and every realm hears of the error.
    private func refused(_ code: ErrorCode, _ body: JSONErrorBody) {
        lost { $0.refused(code, body, at: Self.now, using: &$1) }
        for realm in realms.values where realm.sessions[.main] != nil {
            realm.act(on: code, body, endsSession: false, on: self)
        }
    }

    /// What came breaks the protocol: the connection is closed, its realms stop.
    private func violation(_ error: SyncProtocolError) {
        logger.error("protocol violation", metadata: ["error": "\(error)"])
        lost { connection, _ in
            connection.violated(at: Self.now)
            return []
        }
        let error = SyncError(
            .clientInternalError, "the server broke the sync protocol: \(error.message)", wireCode: error.code.rawValue)
        for realm in realms.values where realm.isSyncing { realm.stopAndReport(error, on: self) }
    }

    // MARK: PING

    func schedule(_ wait: Keepalive.Wait) {
        _ = schedule(after: wait.duration) { connection, _ in
            switch connection.keepalive.elapsed(wait.number) {
            case .pingIsDue: connection.sendPing()
            case .connectionIsDead:
                connection.logger.info("no PONG in time")
                connection.lost { $0.fellSilent(at: Self.now, using: &$1) }
            case nil: break
            }
        }
    }

    func sendPing() {
        guard lifecycle.isConnected, !keepalive.awaitsPong else { return }
        let now = Self.now
        guard send(.ping(timestamp: now / 1_000_000, roundTrip: keepalive.roundTrip), .connection) else { return }
        schedule(keepalive.pinged(at: now))
    }
}
