import Logging
import Storage
import SyncModel
import SyncProtocol

/// Why a BIND is refused by the rules of its app. Pure.
struct BindDenial {
    let app: AppRecord
    let partition: String
    let user: String

    /// The reason as the metrics count it.
    var reason: String { hasRules ? "rules" : "noRules" }

    /// The refusal as the log has it.
    var metadata: Logger.Metadata {
        [
            "realm": "\(partition)", "user": "\(user)", "clause": "\(hasRules ? "partition.read" : "no rules")",
            "rules": "\(app.rulesVersion)", "then": "\(action.wireName)",
        ]
    }

    /// What the client is told.
    func error(of session: SessionIdent) -> SyncProtocolError {
        SyncProtocolError(
            .permissionDenied, session: session, action: action,
            hasRules
                ? "permission denied: the rules of app \(app.id) do not let this user read the partition"
                : "permission denied: app \(app.id) has no rules, so nobody may read or write; its operator sets them with:"
                    + " sluice rules set")
    }

    private var hasRules: Bool { app.rulesVersion > 0 }

    /// Where nobody has said yet who may read, no copy goes.
    private var action: ErrorAction {
        hasRules && app.onReadDenied == .delete ? .deleteRealm : .applicationBug
    }
}

extension JSONErrorBody {
    /// What a client is told of whom it cannot be told what it may do: it comes again.
    static let rightsUnknown = JSONErrorBody(
        code: .initialSyncNotCompleted, message: "the server cannot tell at the moment what this user may do",
        action: .transient, tryAgain: true, backoff: .patient)
}
