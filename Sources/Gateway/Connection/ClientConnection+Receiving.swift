import Logging
import NIOCore
import Storage
import SyncModel
import SyncProtocol

// Messages from the client.
extension ClientConnection {
    /// The next step of the reader.
    enum Next: Sendable {
        case goOn
        /// The message is not read yet: uploads are to be acknowledged before.
        /// - Parameter upload: the bytes that the message takes, if it is an upload.
        case wait(upload: Int?)
        /// The app of a BIND, its rules or the user are not remembered.
        case lookUp(Bind)
        /// The next message is read after a while: they come faster than a quota or the connection's pace allows.
        case rest(Duration)
    }

    /// Nothing in here waits, or the reader's task would keep what the waiting needs for as long as the socket is open.
    ///
    /// - Parameter isNew: false for what had to wait.
    func receive(_ input: SocketInput, isNew: Bool = true) -> Next {
        guard !isClosing else { return .goOn }
        if isNew { lastHeard = .now() }
        var next = Next.goOn
        switch input {
        case .message(let buffer):
            let bytes = Array(buffer.readableBytesView)
            let upload = parser.plainBytes(ofUpload: bytes)
            if mustWait(before: upload) {
                guard isLost else { return .wait(upload: upload) }
                if upload != nil { dropsUploads = true }
            }
            if upload != nil, dropsUploads { return .goOn }
            do throws(SyncProtocolError) {
                let message = try parser.parse(bytes)
                environment.metrics.received(message.name)
                next = receive(message, bytes: upload ?? bytes.count)
                if let rest = pace.take(), case .goOn = next {
                    environment.metrics.slowed(app: upgrade.app)
                    next = .rest(rest)
                }
            } catch {
                violated(error)
            }
        case .tooLarge(let prefix, let count):
            let session = ClientMessageParser.uploadSession(inPrefix: Array(prefix.readableBytesView)) ?? .connection
            violated(
                parser.tooLarge(
                    "a message of \(count) bytes, \(environment.protocolLimits.maxMessageBytes) allowed",
                    session: session, closeReason: Self.stockCloseReason))
        }
        return next
    }

    /// The words of the service that stock clients know for a message beyond its limit, which is about ours.
    private static let stockCloseReason = "read limited at 16777217 bytes"

    private func receive(_ message: ClientMessage, bytes: Int) -> Next {
        switch checker.receive(message) {
        case .accept: return act(on: message, bytes: bytes)
        case .ignore: break
        case .unbind(let answer):
            if let session = message.session { perform(.unbind(answer: answer), on: session) }
        case .fail(let error): violated(error)
        }
        return .goOn
    }

    private func act(on message: ClientMessage, bytes: Int) -> Next {
        switch message {
        case .bind(let bind):
            let verdict = judge(.bind)
            if case .refuse(let quota, let limit, let seconds) = verdict {
                refuse(bind, beyond: quota, limit, for: seconds)
            } else if !bindAtOnce(bind) {
                return .lookUp(bind)
            } else {
                return rest(verdict)
            }
        case .ident(let ident):
            perform(.ident(ident), on: ident.session)
            _ = takes(ident.query, of: ident.session)
        case .upload(let upload): return take(upload, bytes: bytes)
        case .mark(let session, let request): perform(.mark(request), on: session)
        case .ping(let timestamp, _): send(.pong(timestamp: timestamp))
        case .jsonError(let error):
            logger.warning(
                "a client cannot integrate",
                metadata: about(error.session, ["code": "\(error.code.rawValue)"]))
            environment.metrics.error(code: error.code.rawValue)
            perform(.clientFailed(error), on: error.session)
        case .testCommand(let command):
            send(.testCommand(TestCommand(session: command.session, request: command.request, text: "{}")))
        case .query(let query):
            if takes(query.query, of: query.session) { perform(.query(query.query), on: query.session) }
        case .unbind: break
        }
        return .goOn
    }

    /// Takes an upload, or has its client come back with it later.
    private func take(_ upload: Upload, bytes: Int) -> Next {
        guard !upload.entries.isEmpty, sessions[upload.session] != nil else {
            perform(.upload(upload, bytes: bytes), on: upload.session)
            return .goOn
        }
        let verdict = judge(.upload)
        if case .refuse(let quota, let limit, let seconds) = verdict {
            perform(.beyond(quota, limit: limit, seconds: seconds), on: upload.session)
            return .goOn
        }
        environment.metrics.uploaded(app: upgrade.app, changesets: upload.entries.count, bytes: bytes)
        perform(.upload(upload, bytes: bytes), on: upload.session)
        return rest(verdict)
    }

    private func rest(_ verdict: RateQuotas.Verdict) -> Next {
        guard case .rest(let rest, let quota) = verdict else { return .goOn }
        environment.metrics.slowed(by: quota, app: upgrade.app)
        return .rest(rest)
    }

    private func judge(_ act: RateQuotas.Act) -> RateQuotas.Verdict {
        let app = environment.apps.lastKnown(upgrade.app, within: environment.timings.withoutStore)
        let verdict = environment.rates.judge(
            act, of: AppUser(app: upgrade.app, user: upgrade.claims?.sub ?? ""), in: app)
        if case .refuse(let quota, _, _) = verdict { environment.metrics.quotaMet(quota, app: upgrade.app) }
        return verdict
    }

    /// A rule was broken: one session pays if it is one session's, else the connection.
    func violated(_ error: SyncProtocolError) {
        logger.notice(
            "a client broke a rule of the protocol",
            metadata: about(error.session, ["code": "\(error.code.rawValue)", "reason": "\(error.message)"]))
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
