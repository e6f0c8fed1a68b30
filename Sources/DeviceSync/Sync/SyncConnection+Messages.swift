internal import Changesets
internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

extension SyncConnection {
    // MARK: Sending

    /// Notes that a session may have something to send.
    func enlist(_ ident: SessionIdent) {
        guard lifecycle.isConnected, slots[ident] != nil || farewells[ident] != nil else { return }
        if queued.insert(ident).inserted { sendQueue.append(ident) }
        flush()
    }

    /// Sends what there is, one message a session at a time.
    func flush() {
        guard lifecycle.isConnected, !isFlushing else { return }
        isFlushing = true
        defer { isFlushing = false }
        while let ident = sendQueue.first, lifecycle.isConnected, channel?.isFull != true {
            sendQueue.removeFirst()
            queued.remove(ident)
            guard let message = next(ident) else { continue }
            guard send(message, ident) else { return }
            if queued.insert(ident).inserted { sendQueue.append(ident) }
            if case .bind = message { bindSent(ident) }
        }
    }

    private func next(_ ident: SessionIdent) -> ClientMessage? {
        guard var slot = slots[ident] else { return farewell(ident) }
        do {
            defer { slots[ident]?.machine = slot.machine }
            return try slot.machine.nextMessage {
                let found = try slot.realm.scan(after: $0, upTo: $1)
                slot.realm.succeeded(at: .upload)
                return found
            }
        } catch {
            interrupt(ident, error, .upload)
            return nil
        }
    }

    private func send(_ message: ClientMessage, _ ident: SessionIdent) -> Bool {
        do {
            if case .ident(let own) = message {
                let progress = slots[ident]?.machine.progress ?? .init()
                try checker.sendIdent(
                    own, upload: progress.upload, newestClientVersion: slots[ident]?.machine.newestVersion)
            } else {
                try checker.send(message)
            }
            let bytes = try encoder.encode(message)
            logger.trace("sending", metadata: ["message": "\(message.name)", "session": "\(ident)"])
            channel?.send(bytes)
            return true
        } catch {
            logger.error("a message could not be sent", metadata: ["error": "\(error)"])
            violation(SyncProtocolError(.otherError, "the client was about to break the protocol"))
            return false
        }
    }

    /// What a session has still to say that is about to leave.
    private func farewell(_ ident: SessionIdent) -> ClientMessage? {
        let message = farewells[ident]?.nextMessage { cursor, _ in ClientSession.UploadScan(progress: cursor) }
        forgetIfLeft(ident)
        return message
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
            if let ident = message.session, let newest = slots[ident]?.realm.core.snapshot.version,
                slots[ident]?.role == .main
            {
                checker.setNewestClientVersion(ClientVersion(newest), for: ident)
            }
            try checker.receive(message)
        } catch {
            return violation(error)
        }
        logger.trace("received", metadata: ["message": "\(message.name)"])
        switch message {
        case .pong: pongReceived()
        case .logMessage(let message):
            // Sent before anything that is applied by it; what this client does not know is refused at BIND.
            if let name = message.compatibility { compatibility = PeerCompatibility(rawValue: name) }
            logger.debug(
                "server", metadata: ["text": "\(message.text ?? "")", "co_id": "\(message.connectionID ?? "")"])
        case .jsonError(let session, let code, let body) where session.isConnection:
            connectionError(code, body)
        case .error(let error) where error.session.isConnection:
            connectionError(
                error.code, JSONErrorBody(code: error.code, message: error.message, action: .applicationBug))
        default:
            guard let ident = message.session else { return }
            // Its actions are nobody's business any more.
            _ = farewells[ident]?.receive(message)
            forgetIfLeft(ident)
            for action in slots[ident]?.machine.receive(message) ?? [] { perform(action, ident) }
            enlist(ident)
        }
    }

    private func perform(_ action: ClientSession.Action, _ ident: SessionIdent) {
        guard let slot = slots[ident] else { return }
        let core = slot.role == .fresh ? slot.realm.resetFiles.fresh : slot.realm.core
        switch action {
        case .persistIdent(let file):
            guard let core else { return }
            core.lock.lock()
            defer { core.lock.unlock() }
            do {
                var sync = core.sync
                sync.compatibility = try rules(for: core)
                sync.ident = file
                try core.setSync(sync)
                slot.realm.succeeded(at: .identity)
            } catch {
                interrupt(ident, error, .identity)
            }
        case .integrate(let download):
            guard let core else { return }
            integrate(download, core, ident)
        case .markReached(let mark):
            switch slot.role {
            case .main:
                slot.realm.lastMark = max(slot.realm.lastMark, mark)
                slot.realm.markReached(mark)
                resetMaybeAcknowledged(slot.realm, ident)
            case .fresh: perform(slot.realm.reset.freshDownloaded(), slot.realm)
            }
        case .uploadGateOpened: break
        case .sessionError(let code, let body):
            // UNBIND goes out before whatever takes this session's place.
            enlist(ident)
            sessionError(ident, code, body)
        case .plainError(let error):
            sessionError(
                ident, error.code,
                JSONErrorBody(message: error.message, action: .applicationBug, tryAgain: error.tryAgain))
        case .ended: break
        }
    }

    /// By which rules a copy records and applies from now on.
    ///
    /// A server that does not say so makes its copies as stock clients do. One that forgot, as in a cluster whose gateways
    /// are of an older version, must not be followed: the copies would come apart for good.
    private func rules(for core: RealmCore) throws(IntegrationError) -> PeerCompatibility {
        if let compatibility { return compatibility }
        guard core.sync.compatibility != .convergent else {
            throw IntegrationError(
                code: .otherSessionError,
                message: "the app's copies are made by the convergent rules, and this server does not say that its are")
        }
        return .stockClients
    }

    private func integrate(_ download: Download, _ core: RealmCore, _ ident: SessionIdent) {
        do {
            // Out of the slot while it works: it keeps what it has parsed, and must not have to copy it.
            var integrator = slots[ident]?.integrator.take() ?? DownloadIntegrator(core: core)
            let (progress, version) = try integrator.integrate(download, try rules(for: core))
            slots[ident]?.integrator = integrator
            slots[ident]?.machine.integrated(progress, newestVersion: ClientVersion(version))
        } catch let error as IntegrationError where error.code == .badChangeset {
            return integrationFailed(ident, error)
        } catch {
            return interrupt(ident, error, .download)
        }
        guard let slot = slots[ident] else { return }
        slot.realm.succeeded(at: .download)
        // Without anything to upload the history is not read again.
        if slot.realm.interrupted.contains(.upload), slot.realm.isUploaded { slot.realm.succeeded(at: .upload) }
        guard slot.role == .main else { return }
        releaseCompensations(slot.realm, download)
        slot.realm.reportDownload(
            download.entries.reduce(0) { $0 + $1.changeset.count }, left: Int(clamping: download.downloadableBytes ?? 0)
        )
        slot.realm.checkUploadWaits()
        resetMaybeAcknowledged(slot.realm, ident)
        if !slot.realm.session.hasInstances { instancesGone(slot.realm.session) }
    }

    /// What the server sent is wrong, and would be the next time too. It answers with a client reset.
    private func integrationFailed(_ ident: SessionIdent, _ error: IntegrationError) {
        logger.error("a download could not be integrated", metadata: ["error": "\(error.message)"])
        slots[ident]?.machine.integrationFailed(error.code, error.message)
        if let slot = slots[ident], slot.role == .main {
            report(
                SyncError(.clientInternalError, error.message, wireCode: error.code.rawValue, isFatal: false),
                slot.realm)
        }
    }

    private func releaseCompensations(_ realm: SyncedRealm, _ download: Download) {
        guard let newest = download.entries.last?.serverVersion else { return }
        for (version, error) in realm.compensations where version <= newest { report(error, realm) }
        realm.compensations.removeAll { $0.version <= newest }
    }

    /// What came breaks the protocol: the connection is closed, its sessions stop.
    private func violation(_ error: SyncProtocolError) {
        logger.error("protocol violation", metadata: ["error": "\(error)"])
        violated()
        let error = SyncError(
            .clientInternalError, "the server broke the sync protocol: \(error.message)", wireCode: error.code.rawValue)
        for realm in realms.values where !realm.isStopped && !realm.isSuspended {
            report(error, realm)
            stop(realm, error)
        }
    }

    // MARK: PING

    func startPings() {
        let period = Double(timeouts.pingKeepalivePeriod) / 1000
        schedulePing(after: Double.random(in: 0...period, using: &random))
    }

    private func schedulePing(after seconds: Double) {
        pingTimer = schedule(after: seconds) { connection, timer in
            if connection.pingTimer == timer { connection.sendPing() }
        }
    }

    func sendPing() {
        guard lifecycle.isConnected, pingSent == nil else { return }
        let now = DispatchTime.now()
        let message = ClientMessage.ping(timestamp: now.uptimeNanoseconds / 1_000_000, roundTrip: roundTripMS)
        guard send(message, .connection) else { return }
        pingSent = now
        pingTimer = schedule(after: Double(timeouts.pongKeepaliveTimeout) / 1000) { connection, timer in
            guard connection.pingTimer == timer else { return }
            connection.logger.info("no PONG in time")
            connection.fellSilent()
        }
    }

    private func pongReceived() {
        guard let sent = pingSent else { return }
        let waited = DispatchTime.now().uptimeNanoseconds - sent.uptimeNanoseconds
        roundTripMS = waited / 1_000_000
        pingSent = nil
        let period = Double(timeouts.pingKeepalivePeriod) / 1000
        let next = Double.random(in: 0.9 * period...period, using: &random) - Double(waited) / 1e9
        schedulePing(after: max(0, next))
    }
}
