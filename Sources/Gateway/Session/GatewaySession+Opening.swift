import Messages
import Storage
import SyncModel
import SyncProtocol

// BIND and IDENT.
extension GatewaySession {
    mutating func bind(
        _ needsIdent: Bool, _ app: AppRecord, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        clientRecovery = app.clientRecovery
        switch app.syncState {
        case .enabled: break
        case .paused:
            return fail(
                .initialSyncNotCompleted, .transient, "sync is paused for app \(app.id)", backoff: .patient, &actions)
        case .terminated where needsIdent:
            return fail(
                .initialSyncNotCompleted, .transient, "sync is not enabled for app \(app.id)", backoff: .patient,
                &actions)
        case .terminated:
            return fail(
                .otherSessionError, .warning, "sync is not enabled for app \(app.id)", tryAgain: true,
                backoff: .patient, &actions)
        }
        guard environment.isLinkUp else { return failForNow("the server's cluster is not reachable", &actions) }
        isBindReported = true
        actions.append(
            .subscribeAndBind(
                BindRequest(
                    context: requestContext(environment), user: context.user, connection: context.connection,
                    needsClientFile: needsIdent, sessionReason: 0, protocolVersion: context.protocolVersion,
                    userAgent: context.userAgent)))
    }

    mutating func bound(_ answer: BoundAnswer, _ environment: SessionEnvironment, _ actions: inout [SessionAction]) {
        guard phase == .binding else { return }
        generation = answer.generation
        slice = answer.slice
        phase = .bound
        if let file = answer.clientFile {
            clientFile = file
            actions.append(.send(.ident(session: session, file: file)))
        }
        if let ident = queuedIdent {
            queuedIdent = nil
            identify(ident, environment, &actions)
        }
    }

    mutating func identify(_ ident: Ident, _ environment: SessionEnvironment, _ actions: inout [SessionAction]) {
        switch phase {
        case .binding: queuedIdent = ident
        case .bound:
            phase = .identifying
            clientFile = ident.file
            position = ident.download
            latest = ident.latest
            actions.append(identification(of: ident.file, confirms: 0, environment))
        case .identifying, .live, .clientFailed, .ended: break
        }
    }

    /// The owner would have the client reset, and asks whether the client still waits to hear that: then it is told again
    /// what the client says. A session that has been identified or has ended is not meant.
    mutating func confirm(
        _ question: UInt64, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        guard phase == .identifying, let clientFile else { return }
        actions.append(identification(of: clientFile, confirms: question, environment))
    }

    /// What the client's IDENT said: neither cursor moves before it is answered.
    private func identification(
        of file: ClientFileIdent, confirms question: UInt64, _ environment: SessionEnvironment
    ) -> SessionAction {
        .identify(
            IdentifyRequest(
                context: requestContext(environment), user: context.user, clientFile: file, download: position,
                latest: latest, confirms: question))
    }

    mutating func identified(
        _ answer: IdentifiedAnswer, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        guard phase == .identifying, let clientFile else { return }
        generation = answer.generation
        phase = .live
        upload = answer.upload
        uploads.begin(after: answer.upload.clientVersion)
        heardOf = max(heardOf, answer.latest.version)
        actions.append(.recorded(answer.upload, lockedServerVersion: answer.lockedServerVersion))
        actions.append(.claim(clientFile))
        let early = earlyUploads
        earlyUploads = []
        let broken = violation
        violation = nil
        for (upload, bytes) in early { accept(upload, bytes, environment, &actions) }
        if let broken { return violated(broken, environment, &actions) }
        wantPage(environment)
    }

    func requestContext(_ environment: SessionEnvironment) -> RequestContext {
        RequestContext(
            realm: context.realm, session: context.reference, sentAt: environment.now,
            patience: context.limits.requestDeadline)
    }
}

extension BackoffPolicy {
    /// For what may take a while: 5 s to 60 s.
    static let patient = BackoffPolicy(intervalSeconds: 5, maxDelaySeconds: 60, multiplier: 2)
    /// For what should be over soon: 1 s to 60 s.
    static let short = BackoffPolicy(intervalSeconds: 1, maxDelaySeconds: 60, multiplier: 2)
}
