import AMQP
import Logging
import Messages
import Storage
import SyncModel

/// Why a session is refused, as the client is to be told (docs/protocol.md).
struct Refusal {
    var code: ErrorCode
    var action: ErrorAction
    var message: String
    var tryAgain: Bool
    var backoff: BackoffPolicy?
    var clientFile: FileIdent?
    var campaign: String?
    /// As in `RefusedAnswer`.
    var integrated: ClientVersion?

    static func notEnabled(_ app: AppRecord, needsClientFile: Bool) -> Refusal? {
        let backoff = BackoffPolicy(intervalSeconds: 5, maxDelaySeconds: 60, multiplier: 2)
        switch app.syncState {
        case .enabled: return nil
        case .terminated where !needsClientFile:
            return Refusal(
                code: .otherSessionError, action: .warning, message: "sync is not enabled for app \(app.id)",
                tryAgain: true,
                backoff: backoff)
        case .paused, .terminated:
            return Refusal(
                code: .initialSyncNotCompleted, action: .transient, message: "sync is paused for app \(app.id)",
                tryAgain: true,
                backoff: backoff)
        }
    }

    static func unknownApp(_ app: String) -> Refusal {
        Refusal(
            code: .initialSyncNotCompleted, action: .transient, message: "app \(app) does not exist", tryAgain: true,
            backoff: BackoffPolicy(intervalSeconds: 30, maxDelaySeconds: 300, multiplier: 2))
    }

    /// The client file cannot go on.
    static func reset(
        code: ErrorCode, _ message: String, app: AppRecord, clientFile: FileIdent?, campaign: String?,
        integrated: ClientVersion? = nil
    ) -> Refusal {
        Refusal(
            code: code, action: app.clientRecovery ? .clientReset : .clientResetNoRecovery, message: message,
            tryAgain: false, backoff: nil, clientFile: clientFile, campaign: campaign, integrated: integrated)
    }

    /// One of many resets; its turn comes.
    static func turn(inSeconds seconds: Int, app: AppRecord) -> Refusal {
        Refusal(
            code: .initialSyncNotCompleted, action: .transient,
            message: "many client realms of app \(app.id) reset; this one's turn is in \(seconds) s", tryAgain: true,
            backoff: BackoffPolicy(intervalSeconds: Int64(seconds), maxDelaySeconds: Int64(seconds), multiplier: 1))
    }

    /// What is stored of the realm cannot be read. That takes an operator; until then every request only costs.
    static func damaged(_ realm: RealmName) -> Refusal {
        Refusal(
            code: .initialSyncNotCompleted, action: .transient,
            message:
                "realm \(realm.partition) of app \(realm.app) cannot be read on the server; its operator looks at it"
                + " with: sluice realms verify",
            tryAgain: true, backoff: BackoffPolicy(intervalSeconds: 60, maxDelaySeconds: 600, multiplier: 2))
    }

    /// The session cannot go on as it is; the same client can, from what the server has.
    static func retry(_ message: String) -> Refusal {
        Refusal(
            code: .otherSessionError, action: .transient, message: message, tryAgain: true,
            backoff: BackoffPolicy(intervalSeconds: 1, maxDelaySeconds: 60, multiplier: 2))
    }
}

extension SliceOwner {
    func refuse(
        _ realm: RealmName, _ session: SessionReference, _ refusal: Refusal, to address: ReplyAddress? = nil
    ) throws {
        logger.debug(
            "session refused",
            metadata: [
                "app": "\(realm.app)", "realm": "\(realm.partition)", "code": "\(refusal.code.rawValue)",
                "client_file": "\(refusal.clientFile ?? 0)", "reason": "\(refusal.message)",
            ])
        metrics.refused(app: realm.app)
        let answer = RefusedAnswer(
            realm: realm, session: session, code: refusal.code, action: refusal.action, message: refusal.message,
            tryAgain: refusal.tryAgain, backoff: refusal.backoff, clientFile: refusal.clientFile,
            campaign: refusal.campaign, integrated: refusal.integrated)
        try reply(
            answer, to: address ?? ReplyAddress(queue: topology.gateway(session.gateway), correlationID: nil))
    }

    /// Refuses a session of a client file that must reset, and accounts for the reset.
    ///
    /// - Parameters:
    ///   - integrated: up to which client version the realm's state has what the client has written, if that is certain.
    ///   - isNewAttempt: the client file has just presented itself. What else a session sends may have been on its way when it
    ///     was refused, and says nothing of a reset that has begun.
    func refuseForReset(
        _ context: RealmContext, _ session: SessionReference, code: ErrorCode, _ message: String, app: AppRecord,
        file: ClientFileRecord, integrated: ClientVersion?, isNewAttempt: Bool = false, to address: ReplyAddress? = nil
    ) async throws {
        let campaign = try await requireReset(context, file, reason: message)
        try await overtake(file, of: context.name, by: campaign)
        try await observe(
            .refused(connection: context.sessions.connection(of: session) ?? file.connection), of: file.ident,
            campaign: campaign, opensOnly: !isNewAttempt, in: context)
        try refuse(
            context.name, session,
            .reset(
                code: code, message, app: app, clientFile: file.ident, campaign: campaign, integrated: integrated),
            to: address)
    }

    /// Marks a client file, and reports it under a campaign of its own if no campaign asked for the reset.
    private func requireReset(
        _ context: RealmContext, _ file: ClientFileRecord, reason: String
    ) async throws -> String {
        if file.state == .resetRequired || file.state == .superseded, let campaign = file.campaign { return campaign }
        let campaign = "\(context.name.app).slice-\(slice).realm-\(context.record.id).file-\(file.ident)"
        context.update(file.ident) {
            $0.state = .resetRequired
            $0.campaign = campaign
        }
        touch(context)
        let report = FoundReport(
            kind: ResetMessage.type, campaign: campaign, app: context.name.app, slice: slice,
            generation: context.record.generation, reason: reason, chunk: 0, chunks: 1,
            clientRealms: [
                FoundReport.ClientRealm(
                    partition: context.name.partition, clientFile: file.ident, user: file.user, lastSeen: file.lastSeen)
            ])
        try publishOnce(Publication(.outcomes, try AMQPMessage(report)))
        return campaign
    }
}
