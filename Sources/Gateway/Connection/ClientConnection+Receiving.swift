import Logging
import Messages
import NIOCore
import Storage
import SyncProtocol

// What comes from the client and from the cluster.
extension ClientConnection {
    func receive(_ input: SocketInput) async {
        guard !isClosing else { return }
        lastHeard = .now()
        switch input {
        case .message(let buffer):
            let bytes = Array(buffer.readableBytesView)
            do {
                let message = try parser.parse(bytes)
                environment.metrics.received(message.name)
                await receive(message, bytes: bytes.count)
            } catch {
                violated(error)
            }
        case .tooLarge(let prefix, let count):
            let session = ClientMessageParser.uploadSession(inPrefix: Array(prefix.readableBytesView)) ?? .connection
            violated(
                parser.tooLarge(
                    "a message of \(count) bytes, \(environment.protocolLimits.maxMessageBytes) allowed",
                    session: session))
        }
    }

    private func receive(_ message: ClientMessage, bytes: Int) async {
        switch checker.receive(message) {
        case .accept: await act(on: message, bytes: bytes)
        case .ignore: break
        case .unbind(let answer):
            if let session = message.session { perform(.unbind(answer: answer), on: session) }
        case .fail(let error): violated(error)
        }
    }

    private func act(on message: ClientMessage, bytes: Int) async {
        switch message {
        case .bind(let bind): await self.bind(bind)
        case .ident(let ident): perform(.ident(ident), on: ident.session)
        case .upload(let upload):
            if !upload.entries.isEmpty {
                environment.metrics.uploaded(app: upgrade.app, changesets: upload.entries.count, bytes: bytes)
            }
            perform(.upload(upload, bytes: bytes), on: upload.session)
        case .mark(let session, let request): perform(.mark(request), on: session)
        case .ping(let timestamp, _): send(.pong(timestamp: timestamp))
        case .jsonError(let error):
            logger.warning(
                "a client cannot integrate",
                metadata: ["code": "\(error.code.rawValue)", "session": "\(error.session)"])
            environment.metrics.error(code: error.code.rawValue)
            perform(.clientFailed(error), on: error.session)
        case .testCommand(let command):
            send(.testCommand(TestCommand(session: command.session, request: command.request, text: "{}")))
        case .query(let query):
            // Flexible sessions are refused at BIND: none is live.
            logger.debug("a query without a session", metadata: ["session": "\(query.session)"])
        case .unbind: break
        }
    }

    private func bind(_ bind: Bind) async {
        let partition: PartitionValue?
        let app: AppRecord?
        do throws(SyncProtocolError) {
            partition = upgrade.mode == .partition ? try bind.partition(limits: environment.protocolLimits) : nil
        } catch {
            return refuse(bind, error)
        }
        do {
            app = try await environment.apps.app(upgrade.app)
        } catch {
            logger.warning("the store failed at a bind", metadata: ["error": "\(error)"])
            return refuse(
                bind, SyncProtocolError(.otherSessionError, session: bind.session, "the server cannot look up the app"))
        }
        guard !isClosing, checker.session(bind.session) != nil else { return }
        guard let app else {
            return refuse(
                bind,
                SyncProtocolError(.otherSessionError, session: bind.session, action: .applicationBug, "cannot find app")
            )
        }
        switch (app.syncMode, partition) {
        case (.partition, let partition?): start(bind, partition, app)
        case (.flexible, .some):
            violated(SyncProtocolError(.switchToFLXSync, action: .applicationBug, "the app uses flexible sync"))
        case (.partition, nil):
            violated(SyncProtocolError(.switchToPBS, action: .applicationBug, "the app uses partition sync"))
        case (.flexible, nil):
            refuse(
                bind,
                SyncProtocolError(
                    .otherSessionError, session: bind.session, action: .applicationBug,
                    "flexible sync is not available on this server"))
        }
    }

    private func start(_ bind: Bind, _ partition: PartitionValue, _ app: AppRecord) {
        let number = environment.link.sessions.nextNumber()
        let realm = RealmName(app: upgrade.app, partition: partition.canonicalText)
        var limits = SessionContext.Limits()
        limits.pageBytes = environment.limits.pageBytes
        limits.requestDeadline = environment.timings.requestDeadline.milliseconds
        limits.progressDelay = environment.timings.progressDelay.milliseconds
        limits.resetDecision = environment.timings.resetDecision.milliseconds
        let context = SessionContext(
            realm: realm, reference: SessionReference(gateway: environment.gateway, number: number),
            user: upgrade.claims?.sub ?? "", connection: upgrade.connectionID,
            protocolVersion: upgrade.version.rawValue, userAgent: upgrade.userAgent, limits: limits)
        sessions[bind.session] = (number, GatewaySession(session: bind.session, context: context))
        numbers[number] = bind.session
        environment.link.sessions.add(number, realm: realm, sink: self)
        perform(.bind(needsIdent: bind.needsIdent, app: app), on: bind.session)
    }

    /// Ends a session that never got a machine.
    private func refuse(_ bind: Bind, _ error: SyncProtocolError) {
        guard let answer = error.answer, case .jsonError(_, let code, let body) = answer else { return }
        environment.metrics.error(code: code.rawValue)
        send(.jsonError(session: bind.session, code: code, body: body))
    }

    /// A rule was broken: one session pays if it is one session's, else the connection.
    func violated(_ error: SyncProtocolError) {
        logger.notice(
            "a client broke a rule of the protocol",
            metadata: ["code": "\(error.code.rawValue)", "session": "\(error.session)", "reason": "\(error.message)"])
        environment.metrics.error(code: error.code.rawValue)
        if error.scope == .session, sessions[error.session] != nil {
            return perform(.violation(error), on: error.session)
        }
        // An error of a session that is not bound is the connection's: the client would not know whom it is for.
        let isSessions = error.scope == .session && checker.session(error.session) != nil
        let own =
            isSessions
            ? error
            : SyncProtocolError(
                error.scope == .connection ? error.code : .badSessionIdent,
                action: error.scope == .connection ? error.action : nil,
                error.message)
        guard let answer = own.answer else { return close(1002, "protocol violation") }
        send(answer)
        if !isSessions { hangUp() }
    }

    func open(_ letter: Mailbox.Letter) async {
        switch letter {
        case .event(let event, let number):
            switch event {
            case .reset, .generation: await readRecovery(for: number)
            default: break
            }
            guard let session = numbers[number] else { return }
            perform(.cluster(event), on: session)
        case .settings(let app): await settingsChanged(app)
        case .tick: await tick()
        case .drained:
            for (session, entry) in sessions where entry.machine.wantsPage { perform(.drained, on: session) }
        case .close(let code, let reason): close(code, reason)
        case .shutdown: shutdown()
        case .hangUp: hangUp()
        }
    }

    private func settingsChanged(_ id: String) async {
        guard id == upgrade.app, let app = try? await environment.apps.app(id) else { return }
        performOnAll(.settings(app))
    }

    /// Recovery may have been switched off just before the termination: what was remembered at BIND does not count.
    private func readRecovery(for number: UInt64) async {
        guard let app = try? await environment.apps.app(upgrade.app), let session = numbers[number] else { return }
        perform(.recovery(app.clientRecovery), on: session)
    }

    /// Tells the client to come back, to this gateway's successor or to another one.
    private func shutdown() {
        guard !isClosing else { return }
        let body = JSONErrorBody(
            code: .connectionClosed, message: "the server is restarting", action: .transient, tryAgain: true,
            backoff: .short)
        send(.jsonError(session: .connection, code: .connectionClosed, body: body))
        hangUp()
    }

    private func tick() async {
        guard !isClosing else { return }
        let now = environment.clock.unixMilliseconds()
        if .now() > lastHeard + TimeAmount(environment.timings.silentSocket) {
            logger.info("a client is silent")
            return hangUp()
        }
        if let claims = upgrade.claims {
            let expiry = UInt64(max(0, claims.exp)) &* 1000
            if now > expiry &+ environment.timings.tokenGrace.milliseconds { return close(4001, "token expired") }
            if now > checkedAt &+ environment.timings.recheck.milliseconds {
                checkedAt = now
                switch try? await environment.accounts.recheck(claims) {
                case .refresh(let reason): return close(4001, reason)
                case .forbidden(let reason): return close(4002, reason)
                // An unreachable store is no reason to lose clients.
                case .allowed, nil: break
                }
            }
        }
        performOnAll(.tick)
    }
}
