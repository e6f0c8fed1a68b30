import Logging
import Messages
import Storage
import SyncModel
import SyncProtocol

// Doing what the sessions' machines decide.
extension ClientConnection {
    var isCongested: Bool { output.bytes > environment.limits.connectionOutboundBytes / 8 }

    func performOnAll(_ event: SessionEvent) {
        for session in sessions.keys.sorted() { perform(event, on: session) }
    }

    /// Nothing in here waits: what one event draws happens before the next event of this connection.
    func perform(_ event: SessionEvent, on session: SessionIdent) {
        guard var machine = sessions[session] else { return }
        let link = environment.link
        let before = machine.unacknowledgedBytes
        let generation = machine.generation
        let log = SessionLog(logger: logger)
        log.note(event.line, of: machine)
        let actions = machine.handle(
            event,
            SessionEnvironment(
                now: environment.clock.unixMilliseconds(), isCongested: isCongested, isLinkUp: link.isUp,
                isAlone: sessions.count == 1))
        sessions[session] = machine
        budget(machine.unacknowledgedBytes - before)
        if machine.generation != generation {
            link.sessions.bound(machine.number, generation: machine.generation)
        }
        for action in actions {
            log.note(action.line, of: machine)
            act(action, session, machine.number, machine.context.realm)
        }
        if !readers.isEmpty { resumeReaders() }
    }

    /// Makes the metadata of a line about a session.
    func about(_ session: SessionIdent, _ details: Logger.Metadata) -> Logger.Metadata {
        SessionLog.about(session, sessions[session], details)
    }

    private func act(_ action: SessionAction, _ session: SessionIdent, _ number: UInt64, _ realm: RealmName) {
        let link = environment.link
        switch action {
        case .send(let message): send(message)
        case .sendPacked(let download, let packed): send(.download(download), packed: packed)
        case .sendReset(let message, let report): send(message, report: report)
        case .closeTooLarge(let reason, let report):
            environment.metrics.error(code: ErrorCode.otherSessionError.rawValue)
            logger.info(
                "a socket is closed for a message beyond the limits",
                metadata: about(session, ["reason": "\(reason)"]))
            close(CloseCode.messageTooBig.rawValue, reason, report: report)
        case .subscribeAndBind(let request): subscribe(number, realm, then: request)
        case .identify(let request): link.request(request, context: request.context)
        case .page(var request, let position):
            if let position, let recent = link.recent.stretch(after: position, of: realm) {
                environment.metrics.caughtUp()
                return post(.event(.recent(recent), number: number))
            }
            if realm.isFlexible { request.schema = link.fans.knownSchema(of: realm) }
            link.request(request, context: request.context)
        case .follow(let following):
            let latest = link.fans.follow(number, following, of: realm)
            refuse(environment.holdSets(of: number, in: realm, user: user), to: session)
            if latest > following.version { perform(.heardOf(latest), on: session) }
        case .publish(let message, let upload): link.publish(message, number: upload, session: number)
        case .reset(let message): link.tell(message, realm: realm)
        case .unsubscribe:
            if realm.isFlexible {
                link.fans.leave(number, of: realm)
                environment.sets.forget(number)
            }
            unsubscribe(number, realm)
        case .report(let notice): report(notice, number, realm)
        case .claim(let file): environment.registry.claim(file.ident, realm: realm, by: self)
        case .recorded(let upload, let locked):
            checker.identified(session, upload: upload, lockedServerVersion: locked)
        case .forget:
            let machine = sessions.removeValue(forKey: session)
            budget(-(machine?.unacknowledgedBytes ?? 0))
            numbers[number] = nil
            subscriptions[number] = nil
            link.sessions.remove(number)
            if realm.isFlexible {
                link.fans.leave(number, of: realm)
                environment.sets.forget(number)
            }
            if let file = machine?.clientFile { environment.registry.release(file.ident, realm: realm, by: self) }
            if let machine { outdated.note(machine) }
        }
    }

    private var user: AppUser { AppUser(app: upgrade.app, user: upgrade.claims?.sub ?? "") }

    /// Ends a session whose sets do not fit into a quota; its client comes back later.
    private func refuse(_ refusal: SetQuotas.Refusal?, to session: SessionIdent) {
        guard let refusal else { return }
        environment.metrics.quotaMet(refusal.quota, app: upgrade.app)
        perform(.beyond(refusal.quota, limit: refusal.limit, seconds: SetQuotas.patience), on: session)
    }

    /// - Returns: false if a set does not fit into a quota that a session's client asks for.
    func takes(_ set: QuerySet?, of session: SessionIdent) -> Bool {
        guard let set, let number = sessions[session]?.number else { return true }
        let refusal = environment.holdSet(set, of: number, user: user)
        refuse(refusal, to: session)
        return refusal == nil
    }

    private func budget(_ change: Int) {
        budgeted += change
        environment.budget.change(by: change, app: upgrade.app)
    }

    /// Checks, encodes and queues a message. One that would harm the client is held back: its session ends with an error
    /// that has the client try again.
    func send(_ message: ServerMessage, packed: PackedEntries? = nil, report: NotifiedReport? = nil) {
        guard !isClosing else { return }
        let bytes: [UInt8]
        do throws(SyncProtocolError) {
            try checker.send(message)
            if case .download(let download) = message, let packed {
                bytes = try encoder.encode(download, packed: packed)
            } else {
                bytes = try encoder.encode(message)
            }
        } catch {
            return refused(message, error)
        }
        if case .download = message { environment.metrics.downloaded(app: upgrade.app, bytes: bytes.count) }
        if case .jsonError(_, let code, let body) = message {
            environment.metrics.error(code: code.rawValue)
            logger.info(
                code.entry?.sessionContinues == true ? "a client is told of an error" : "a session ends in an error",
                metadata: about(message.session ?? .connection, body.details(of: code)))
        }
        let isUrgent = if case .pong = message { true } else { false }
        if output.push(OutputQueue.Item(output: .message(bytes), report: report), isUrgent: isUrgent) { startWriting() }
        if output.bytes > environment.limits.connectionOutboundBytes * 16 {
            logger.warning("a client takes nothing")
            hangUp()
        }
    }

    private func refused(_ message: ServerMessage, _ error: SyncProtocolError) {
        environment.metrics.sendingRefused()
        logger.error(
            "a message that the client would not survive was held back",
            metadata: about(
                message.session ?? .connection, ["message": "\(message.name)", "reason": "\(error.message)"]))
        guard let session = message.session, sessions[session] != nil else { return }
        if case .jsonError = message { return hangUp() }
        perform(.unsendable, on: session)
    }

    // MARK: Back-pressure

    /// Returns when a message may be read: uploads that nobody has acknowledged are bounded, for each session and for the
    /// gateway, and without the broker nothing is read after the first upload that waits for it.
    ///
    /// It looks again after each event of this connection and at its ticks: also others' acknowledgements make room.
    func waitForRoom(for upload: Int?) async {
        while !isClosing, !isLost, !Task.isCancelled, mustWait(before: upload) {
            await withCheckedContinuation { readers.append($0) }
        }
    }

    /// - Parameter upload: the bytes that the message takes, if it is an upload.
    func mustWait(before upload: Int?) -> Bool {
        if let upload, !environment.budget.hasRoom(for: upload, of: upgrade.app) { return true }
        // Asked before every message: with little under way no session needs a look.
        guard budgeted > environment.limits.sessionUnacknowledgedBytes || !environment.link.isUp else { return false }
        return sessions.values.contains { machine in
            // One session's uploads hold up the socket: its other sessions and PINGs wait behind them.
            machine.unacknowledgedBytes > environment.limits.sessionUnacknowledgedBytes
                || (!environment.link.isUp && machine.hasUnconfirmedUploads)
        }
    }

    func resumeReaders() {
        let waiting = readers
        readers = []
        for reader in waiting { reader.resume() }
    }
}
