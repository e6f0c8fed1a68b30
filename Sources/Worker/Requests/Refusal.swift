import Storage
import SyncModel

/// Why a session is refused, as the client is to be told (docs/protocol.md). Thrown where that is found; `Admittance.answering` sends it.
struct Refusal: Error {
    var code: ErrorCode
    var action: ErrorAction
    var message: String
    var tryAgain = true
    var backoff: BackoffPolicy?
    var clientFile: FileIdent?
    var campaign: String?
    /// The client versions up to which everything that the client has written is in the realm's state, and after which nothing is
    /// (`RefusedAnswer`).
    var integrated: ClientVersion?
    var lostAfter: ClientVersion?
    /// The newest version of the app's rules that the slice has seen, for a session that was let in under older ones
    /// (`RefusedAnswer`).
    var rulesVersion: UInt64?
    /// The newest version of the app's users that the slice has seen, for a session whose user has changed since
    /// (`RefusedAnswer`).
    var usersVersion: UInt64?
    /// The schema version that the client's copy was made with, if the client names another one (`RefusedAnswer`).
    var previousSchemaVersion: UInt64?

    /// Nil if sync is on for the realm.
    static func notEnabled(_ app: AppRecord, for realm: RealmName, needsClientFile: Bool) -> Refusal? {
        if app.isMoving { return moving(app) }
        switch app.syncState {
        case .enabled: return realm.isFlexible == (app.syncMode == .flexible) ? nil : moving(app)
        case .terminated where !needsClientFile:
            return Refusal(
                code: .otherSessionError, action: .warning, message: "sync is not enabled for app \(app.id)",
                backoff: BackoffPolicy(intervalSeconds: 5, maxDelaySeconds: 60, multiplier: 2))
        case .paused, .terminated: return later("sync is paused for app \(app.id)", seconds: 5, upTo: 60)
        }
    }

    /// The client keeps what it has, and comes again.
    static func later(_ message: String, seconds: Int64, upTo longest: Int64) -> Refusal {
        Refusal(
            code: .initialSyncNotCompleted, action: .transient, message: message,
            backoff: BackoffPolicy(intervalSeconds: seconds, maxDelaySeconds: longest, multiplier: 2))
    }

    /// The client keeps what it has, and goes on when its app is opened again.
    static func applicationBug(_ code: ErrorCode, _ message: String) -> Refusal {
        Refusal(code: code, action: .applicationBug, message: message, tryAgain: false)
    }

    /// The app moves to the other sync mode, or has moved while the message was on its way. The client keeps what it has written.
    static func moving(_ app: AppRecord) -> Refusal {
        later("app \(app.id) is being moved from one sync mode to the other", seconds: 5, upTo: 60)
    }

    static func unknownApp(_ app: String) -> Refusal {
        later("app \(app) does not exist", seconds: 30, upTo: 300)
    }

    /// The client file cannot go on.
    ///
    /// - Parameter mustDiscard: as in `ClientFileRecord`.
    static func reset(
        code: ErrorCode, _ message: String, app: AppRecord, clientFile: FileIdent?, campaign: String?,
        integrated: ClientVersion? = nil, mustDiscard: Bool = false
    ) -> Refusal {
        Refusal(
            code: code, action: app.clientRecovery && !mustDiscard ? .clientReset : .clientResetNoRecovery,
            message: message, tryAgain: false, clientFile: clientFile, campaign: campaign, integrated: integrated)
    }

    /// The session was let in under older rules than the slice has seen: its gateway decides anew.
    static func stale(newest: UInt64, app: String) -> Refusal {
        Refusal(
            code: .sessionClosed, action: .transient, message: "the rules of app \(app) have changed",
            rulesVersion: newest)
    }

    /// The session was let in before its user was changed, as by being disabled: its gateway decides anew.
    static func changedUser(at newest: UInt64, app: String) -> Refusal {
        Refusal(
            code: .sessionClosed, action: .transient, message: "the user of app \(app) has changed",
            usersVersion: newest)
    }

    /// The client has missed so much that it is sent that in pages, which begin with a session.
    static func farBehind(_ file: FileIdent) -> Refusal {
        Refusal(
            code: .sessionClosed, action: .transient,
            message: "client file \(file) is far behind; what it has missed comes in pages")
    }

    /// The user was deleted with the realms that were its own.
    static func deletedUser(_ user: AppUser) -> Refusal {
        applicationBug(
            .permissionDenied, "permission denied: user \(user.user) of app \(user.app) was deleted")
    }

    /// The refusal of a client realm that is one of many to reset: its turn comes.
    static func turn(inSeconds seconds: Int, app: AppRecord) -> Refusal {
        Refusal(
            code: .initialSyncNotCompleted, action: .transient,
            message: "many client realms of app \(app.id) reset; this one's turn is in \(seconds) s",
            backoff: BackoffPolicy(intervalSeconds: Int64(seconds), maxDelaySeconds: Int64(seconds), multiplier: 1))
    }

    /// The realm's history begins anew, which takes longer the larger the realm is.
    static func restarting(_ realm: RealmName) -> Refusal {
        later(
            "realm \(realm.partition) of app \(realm.app) is being made ready after a termination", seconds: 1, upTo: 10
        )
    }

    /// Too many would have to reset; the operator is asked first.
    static func held(_ hold: ResetHoldRecord) -> Refusal {
        later(
            "\(hold.asked) of \(hold.clientFiles.counted("client realm")) of app \(hold.app) in this slice would have to reset at once;"
                + " its operator looks at that first, with: sluice resets list", seconds: 30, upTo: 300)
    }

    /// The realm as it is stored cannot be read. That takes an operator; until then every request only costs.
    static func damaged(_ realm: RealmName) -> Refusal {
        later(
            "realm \(realm.partition) of app \(realm.app) cannot be read on the server; its operator looks at it"
                + " with: sluice realms verify", seconds: 60, upTo: 600)
    }

    /// The session cannot go on as it is; the same client can, from what the server has.
    static func retry(_ message: String) -> Refusal {
        Refusal(
            code: .otherSessionError, action: .transient, message: message,
            backoff: BackoffPolicy(intervalSeconds: 1, maxDelaySeconds: 60, multiplier: 2))
    }
}
