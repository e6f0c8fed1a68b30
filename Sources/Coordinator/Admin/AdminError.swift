import AMQP
import AdminAPI
import Documents
import HTTPTypes
import Hummingbird
import Inspection
import NIOCore
import Operations
import Rules
import Storage
import SyncModel

/// Why the admin API cannot do what was asked: a status, and what its `AdminProblem` says.
struct AdminError: Error, Sendable {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    /// The findings about refused rules.
    var findings: [RulesFinding]?
    /// The write at fault, of a request that writes documents.
    var write: Int?
    /// The methods that there are, where the request's is none of them.
    var allow: String?
    /// Whether the connection ends with the answer.
    var isLast = false

    /// Rules cannot be put in force.
    static func rulesRefused(_ findings: [RulesFinding]) -> AdminError {
        let errors = findings.filter { $0.severity == .error }
        let first = errors.first.map { ": \($0.path.isEmpty ? "" : "\($0.path): ")\($0.message)" } ?? ""
        let rest = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
        return AdminError(
            status: .unprocessableContent, code: "rules_refused",
            message: "the rules cannot be put in force\(first)\(rest)", findings: findings)
    }

    static func invalid(_ message: String) -> AdminError {
        AdminError(status: .badRequest, code: "invalid_request", message: message)
    }

    static func notFound(_ what: String) -> AdminError {
        AdminError(status: .notFound, code: "not_found", message: "there is no \(what)")
    }

    static func noRealm(_ name: RealmName) -> AdminError {
        notFound(
            name.isFlexible
                ? "realm of app \(name.app): no client has synced yet"
                : "realm \(name.partition.prefix(200)) of app \(name.app)")
    }

    static func methodNotAllowed(_ allowed: String) -> AdminError {
        AdminError(
            status: .methodNotAllowed, code: "method_not_allowed", message: "the route is there for \(allowed)",
            allow: allowed)
    }

    static func conflict(_ code: String, _ message: String) -> AdminError {
        AdminError(status: .conflict, code: code, message: message)
    }

    private static func unauthorized(_ message: String) -> AdminError {
        AdminError(status: .unauthorized, code: "unauthorized", message: message)
    }

    static let noToken = unauthorized("send an admin token: Authorization: Bearer <token>")
    static let unknownToken = unauthorized(
        "this admin token is not known here: it is wrong, of another cluster, or was revoked")
    static let endedSession = unauthorized("this session has ended: log in again")
    static let spentLink = unauthorized(
        "this link has been used, is too old, or is of another coordinator: log in with a token")
    static let tooManyLogins = AdminError(
        status: .tooManyRequests, code: "too_many_logins", message: "too many wrong tokens: wait a minute")

    static func forbidden(_ message: String) -> AdminError {
        AdminError(status: .forbidden, code: "forbidden", message: message)
    }

    /// What the request asks for needs the slices' stores.
    ///
    /// - Parameter purpose: what they are read for, to be said behind the stores.
    static func noStore(_ purpose: String = "") -> AdminError {
        AdminError(
            status: .notImplemented, code: "no_store",
            message: "this coordinator cannot read the slices' stores\(purpose)")
    }

    static func unavailable(_ code: String, _ message: String) -> AdminError {
        AdminError(status: .serviceUnavailable, code: code, message: message)
    }

    static func brokerAway(_ error: AMQPError) -> AdminError {
        unavailable(
            "broker_unavailable",
            error.code == .accessRefused
                ? "the coordinator's user may not do this at the broker: \(error); sluice broker init gives it what it needs"
                : "the broker is not to be had: \(error)")
    }
}

extension AdminError {
    init(_ error: any Error) {
        switch error {
        case let error as AdminError: self = error
        case let error as DocumentError: self.init(error)
        case let error as StoreError:
            switch error.code {
            case .notFound: self = AdminError(status: .notFound, code: "not_found", message: error.message)
            case .alreadyExists: self = .conflict("already_exists", error.message)
            case .stale: self = .conflict("stale", error.message)
            default:
                self = .unavailable("store_unavailable", "\(error.message); the coordinator's log says more")
            }
        case let error as InspectionError:
            switch error.code {
            case .notFound: self = AdminError(status: .notFound, code: "not_found", message: error.message)
            case .badInput:
                self = AdminError(status: .unprocessableContent, code: "invalid_query", message: error.message)
            case .corrupt: self = AdminError(status: .internalServerError, code: "corrupt", message: error.message)
            }
        case let error as AMQPError: self = .brokerAway(error)
        case let error as CoordinatorError where error.code == .brokerUnavailable:
            self = .unavailable("broker_unavailable", "\(error.message); try again")
        case let error as HTTPError where error.status == .notFound: self = .notFound("such route")
        case let error as NIOTooManyBytesError:
            self = AdminError(
                status: .contentTooLarge, code: "too_large",
                message: "the body may have at most \(error.maxBytes ?? AdminLimits.body) bytes")
        case let late as LateRequestBody:
            self =
                late.isStopping
                ? .unavailable("stopping", "this coordinator stops")
                : AdminError(status: .requestTimeout, code: "late", message: "the body did not come in time")
        case let error as HTTPError:
            self = AdminError(
                status: error.status, code: error.status.code < 500 ? "invalid_request" : "internal",
                message: error.body ?? error.status.reasonPhrase)
        case is CancellationError: self = .unavailable("stopping", "nobody waits for it any more")
        default:
            self = AdminError(
                status: .internalServerError, code: "internal",
                message: "an unexpected error; the coordinator's log says more")
        }
    }
}
