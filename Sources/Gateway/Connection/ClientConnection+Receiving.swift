import Changesets
import Logging
import Messages
import NIOCore
import Storage
import SyncModel
import SyncProtocol

// Messages from the client.
extension ClientConnection {
    /// What the reader does next.
    enum Next: Sendable {
        case goOn
        /// The message is not read yet: uploads are to be acknowledged before.
        /// - Parameter upload: the bytes that the message takes, if it is an upload.
        case wait(upload: Int?)
        /// The app of a BIND is not remembered.
        case lookUp(Bind)
    }

    /// Nothing in here waits, or the reader's task would keep what the waiting needs for as long as the socket is open.
    ///
    /// - Parameter isNew: false for what had to wait.
    func receive(_ input: SocketInput, isNew: Bool = true) -> Next {
        guard !isClosing else { return .goOn }
        if isNew { lastHeard = .now() }
        var lookUp: Bind?
        switch input {
        case .message(let buffer):
            let bytes = Array(buffer.readableBytesView)
            let upload = ClientMessageParser.plainBytes(ofUpload: bytes)
            if mustWait(before: upload) {
                // A client that is gone uploads again what it has not heard of.
                guard isLost else { return .wait(upload: upload) }
                if upload != nil { return .goOn }
            }
            do throws(SyncProtocolError) {
                let message = try parser.parse(bytes)
                environment.metrics.received(message.name)
                lookUp = receive(message, bytes: upload ?? bytes.count)
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
        return lookUp.map { .lookUp($0) } ?? .goOn
    }

    private func receive(_ message: ClientMessage, bytes: Int) -> Bind? {
        switch checker.receive(message) {
        case .accept: return act(on: message, bytes: bytes)
        case .ignore: break
        case .unbind(let answer):
            if let session = message.session { perform(.unbind(answer: answer), on: session) }
        case .fail(let error): violated(error)
        }
        return nil
    }

    private func act(on message: ClientMessage, bytes: Int) -> Bind? {
        switch message {
        case .bind(let bind):
            guard let app = environment.apps.remembered(upgrade.app) else { return bind }
            self.bind(bind, to: app)
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
        return nil
    }

    func lookUpAndBind(_ bind: Bind) async {
        let app: AppRecord?
        do {
            app = try await environment.apps.app(upgrade.app)
        } catch {
            logger.warning("the store failed at a bind", metadata: ["error": "\(error)"])
            return refuse(
                SyncProtocolError(.otherSessionError, session: bind.session, "the server cannot look up the app"))
        }
        guard !isClosing, checker.session(bind.session) != nil else { return }
        self.bind(bind, to: app)
    }

    private func bind(_ bind: Bind, to app: AppRecord?) {
        func refuse(_ message: String) {
            self.refuse(
                SyncProtocolError(.otherSessionError, session: bind.session, action: .applicationBug, message))
        }
        let partition: PartitionValue?
        do throws(SyncProtocolError) {
            partition = upgrade.mode == .partition ? try bind.partition(limits: environment.protocolLimits) : nil
        } catch {
            return self.refuse(error)
        }
        guard let app else { return refuse("cannot find app") }
        guard app.compatibility == upgrade.compatibility ?? .stockClients else {
            environment.metrics.refusedIncompatible(app: app.id)
            logger.notice(
                "a client does not know the rules that the app's copies are made by",
                metadata: ["compatibility": "\(app.compatibility.rawValue)", "user_agent": "\(upgrade.userAgent)"])
            return refuse(
                "app \(app.id) is \(app.compatibility.rawValue): only clients that say they know its rules may sync, so "
                    + "that all copies stay equal; use a Sluice SDK that does, or an app created with compatibility "
                    + "stockClients")
        }
        switch (app.syncMode, partition) {
        case (.partition, let partition?): start(bind, partition, app)
        case (.flexible, .some):
            violated(SyncProtocolError(.switchToFLXSync, action: .applicationBug, "the app uses flexible sync"))
        case (.partition, nil):
            violated(SyncProtocolError(.switchToPBS, action: .applicationBug, "the app uses partition sync"))
        case (.flexible, nil): refuse("flexible sync is not available on this server")
        }
    }

    private func start(_ bind: Bind, _ partition: PartitionValue, _ app: AppRecord) {
        let number = environment.link.sessions.nextNumber()
        let realm = RealmName(app: upgrade.app, partition: partition.canonicalText)
        let timings = environment.timings
        let limits = SessionContext.Limits(
            pageBytes: environment.limits.pageBytes, requestDeadline: timings.requestDeadline.milliseconds,
            progressDelay: timings.progressDelay.milliseconds, resetDecision: timings.resetDecision.milliseconds)
        let context = SessionContext(
            realm: realm, reference: SessionReference(gateway: environment.gateway, number: number),
            user: upgrade.claims?.sub ?? "", connection: upgrade.connectionID,
            protocolVersion: upgrade.version.rawValue, userAgent: upgrade.userAgent,
            isOurs: upgrade.compatibility != nil, limits: limits)
        sessions[bind.session] = (number, GatewaySession(session: bind.session, context: context))
        numbers[number] = bind.session
        environment.link.sessions.add(number, realm: realm, sink: self)
        perform(.bind(needsIdent: bind.needsIdent, app: app), on: bind.session)
    }

    /// Ends a session that never got a machine.
    private func refuse(_ error: SyncProtocolError) {
        if let answer = error.answer { send(answer) }
    }

    /// A rule was broken: one session pays if it is one session's, else the connection.
    func violated(_ error: SyncProtocolError) {
        logger.notice(
            "a client broke a rule of the protocol",
            metadata: ["code": "\(error.code.rawValue)", "session": "\(error.session)", "reason": "\(error.message)"])
        if error.scope == .session, sessions[error.session] != nil {
            return perform(.violation(error), on: error.session)
        }
        let isSessions = error.scope == .session && checker.session(error.session) != nil
        var own = error
        if error.scope == .connection {
            own = SyncProtocolError(error.code, action: error.action, error.message)
        } else if !isSessions {
            // The client would not know which session an error of one that is not bound is about.
            own = SyncProtocolError(.badSessionIdent, error.message)
        }
        guard let answer = own.answer else {
            environment.metrics.error(code: own.code.rawValue)
            return close(1002, "protocol violation")
        }
        send(answer)
        if !isSessions { hangUp() }
    }
}
