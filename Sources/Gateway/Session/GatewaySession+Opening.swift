import Messages
import Storage
import SyncModel
import SyncProtocol

// BIND and IDENT.
extension GatewaySession {
    /// - Parameter replaced: the client file in whose place one is asked for.
    mutating func bind(_ needsIdent: Bool, _ app: AppRecord, replacing replaced: FileIdent? = nil) {
        clientRecovery = app.clientRecovery
        schemas = app.schemas
        if app.isMoving { return fail(.initialSyncNotCompleted, .transient, app.movingText, backoff: .patient) }
        switch app.syncState {
        case .enabled: break
        case .paused:
            return fail(.initialSyncNotCompleted, .transient, "sync is paused for app \(app.id)", backoff: .patient)
        case .terminated where needsIdent:
            return fail(
                .initialSyncNotCompleted, .transient, "sync is not enabled for app \(app.id)", backoff: .patient)
        case .terminated:
            return fail(
                .otherSessionError, .warning, "sync is not enabled for app \(app.id)", tryAgain: true,
                backoff: .patient)
        }
        guard environment.isLinkUp else { return failForNow("the server's cluster is not reachable") }
        isBindReported = true
        actions.append(
            .subscribeAndBind(
                BindRequest(
                    context: requestContext, user: context.user, connection: context.connection,
                    needsClientFile: needsIdent, sessionReason: 0, protocolVersion: context.protocolVersion,
                    userAgent: context.userAgent, schemaVersion: context.schemaVersion, replaces: replaced)))
    }

    mutating func bound(_ answer: BoundAnswer) {
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
            identify(ident)
        }
    }

    mutating func identify(_ ident: Ident) {
        switch phase {
        case .binding: queuedIdent = ident
        case .bound:
            phase = .identifying
            clientFile = ident.file
            progress = SyncProgress(download: ident.download, latest: ident.latest)
            subscriptions?.active = ident.query ?? .empty
            askToIdentify(ident.file, confirms: 0)
        case .identifying, .live, .clientFailed, .ended: break
        }
    }

    /// The owner is about to have the client reset and asks whether the client still waits for its answer. If the client does,
    /// the owner is told again what the client's IDENT said; a session that is identified already, or over, says nothing.
    mutating func confirm(_ question: UInt64) {
        guard phase == .identifying, let clientFile else { return }
        askToIdentify(clientFile, confirms: question)
    }

    /// Passes on what the client's IDENT said: no cursor moves before it is answered.
    private mutating func askToIdentify(_ file: ClientFileIdent, confirms question: UInt64) {
        actions.append(
            .identify(
                IdentifyRequest(
                    context: requestContext, user: context.user, clientFile: file, download: progress.download,
                    latest: progress.latest, confirms: question, view: subscriptions?.identified,
                    schemaVersion: context.schemaVersion, migratedPartition: home)))
    }

    mutating func identified(_ answer: IdentifiedAnswer) {
        guard phase == .identifying, let clientFile else { return }
        generation = answer.generation
        phase = .live
        progress.upload = answer.upload
        uploads.begin(after: answer.upload.clientVersion)
        heardOf = max(heardOf, answer.latest.version)
        if let version = answer.bootstrap { subscriptions?.mustBootstrap(QueryVersion(version)) }
        actions.append(.recorded(answer.upload, lockedServerVersion: answer.lockedServerVersion))
        actions.append(.claim(clientFile))
        let copied = answer.previousSchemaVersion ?? context.schemaVersion ?? 0
        schemaVersion = schemas?.versions.last { $0.number <= copied }
        if let previous = answer.previousSchemaVersion {
            isOutdated = true
            tellOfSchema(previous)
        }
        wantPage()
    }

    /// The client's copy was made with another schema version than the client names. The session goes on, for the client to upload
    /// what it has written; then the client begins anew. A client hears of it before its first MARK is answered.
    mutating func tellOfSchema(_ previous: UInt64) {
        var body = JSONErrorBody(
            code: .schemaVersionChanged,
            message: "the client realm was made with schema version \(previous) and is opened with "
                + "\(context.schemaVersion ?? 0)")
        body.previousSchemaVersion = previous
        actions.append(.send(.jsonError(session: session, code: .schemaVersionChanged, body: body)))
    }

    var requestContext: RequestContext {
        RequestContext(
            realm: context.realm, session: context.reference, sentAt: environment.now,
            patience: context.limits.requestDeadline, rights: rights)
    }
}

extension BackoffPolicy {
    /// The back-off for what may take a while: 5 s to 60 s.
    static let patient = BackoffPolicy(intervalSeconds: 5, maxDelaySeconds: 60, multiplier: 2)
    /// The back-off for what a quota has refused: no attempt before so many seconds.
    static func afterQuota(seconds: Int) -> BackoffPolicy {
        BackoffPolicy(intervalSeconds: Int64(max(seconds, 2)), maxDelaySeconds: 300, multiplier: 2)
    }
    /// The back-off for what should be over soon: 1 s to 60 s.
    static let short = BackoffPolicy(intervalSeconds: 1, maxDelaySeconds: 60, multiplier: 2)
}
