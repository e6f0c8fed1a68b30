import HTTPTypes
import Storage

/// An error as the client API answers it (docs/http-api.md, "Errors").
struct APIError: Error, Sendable {
    var status: HTTPResponse.Status
    var code: String?
    var message: String
    var retryAfter: Int?
    /// The methods that there are, where the request's is none of them.
    var allow: String?

    init(_ status: HTTPResponse.Status, _ code: String?, _ message: String, retryAfter: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    static let noBearer = APIError(.unauthorized, "InvalidSession", "must authenticate first")
    static let invalidSession = APIError(.unauthorized, "InvalidSession", "invalid session")
    static let invalidPassword = APIError(.unauthorized, "InvalidPassword", "invalid username/password")
    static let userDisabled = APIError(.unauthorized, "UserDisabled", "user disabled")
    static let invalidAPIKey = APIError(.unauthorized, "AuthError", "invalid API key")
    static let anonymousHasNoKeys = APIError(
        .forbidden, "AuthError", "anonymous users have no API keys: link the user to an account first")
    static let apiKeyNotFound = APIError(.notFound, "APIKeyNotFound", "API key not found")
    static let invalidForeignToken = APIError(.unauthorized, "AuthError", "invalid custom token")
    static let confirmationRequired = APIError(.unauthorized, "AuthError", "confirmation required")
    static let alreadyConfirmed = APIError(.badRequest, "UserAlreadyConfirmed", "already confirmed")
    static let invalidMailToken = APIError(.badRequest, "BadRequest", "invalid token data")
    static let noMail = APIError(
        .serviceUnavailable, "MaintenanceInProgress", "mails cannot be sent at the moment", retryAfter: 60)
    static let providerNotFound = APIError(.notFound, "AuthProviderNotFound", "auth provider not found")
    static let nameInUse = APIError(.conflict, "AccountNameInUse", "name already in use")
    static let anotherApp = APIError(.forbidden, "UserAppDomainMismatch", "the token is for another app")
    static let linkedElsewhere = APIError(.badRequest, "AuthError", "the identity is another user's")
    static let notLinkable = APIError(
        .badRequest, "AuthError", "expected local-userpass or custom-token: others cannot be linked to a user")
    static let unknownApp = APIError(.notFound, nil, "cannot find app")
    static let notFound = APIError(.notFound, nil, "not found")
    static let tooLarge = APIError(.contentTooLarge, "BadRequest", "request body too large")
    static let late = APIError(.requestTimeout, "RequestTimeout", "the request's body did not come in time")
    static let storeUnavailable = APIError(
        .serviceUnavailable, "MaintenanceInProgress", "the service is unavailable for a moment", retryAfter: 2)
    static let internalError = APIError(.internalServerError, "InternalServerError", "internal server error")

    static func methodNotAllowed(_ allowed: String) -> APIError {
        var error = APIError(.methodNotAllowed, "MethodNotAllowed", "expected \(allowed)")
        error.allow = allowed
        return error
    }

    /// Why an identity could not be linked.
    static func notLinked(_ error: StoreError) -> any Error {
        switch error.code {
        case .alreadyExists: linkedElsewhere
        // The user was removed meanwhile.
        case .notFound: invalidSession
        default: error
        }
    }

    static func badRequest(_ message: String) -> APIError { APIError(.badRequest, "BadRequest", message) }

    /// The times to come back are spread, so that those who were refused together do not come together.
    static func tooManySockets(_ why: String, retryAfter seconds: Int = 0) -> APIError {
        APIError(.serviceUnavailable, "TooManyConnections", why, retryAfter: seconds + .random(in: 5...15))
    }

    /// - Parameter what: what there was too much of.
    static func throttled(_ seconds: Int, _ what: String) -> APIError {
        APIError(
            .tooManyRequests, "RateLimitExceeded", "too many requests: \(what), try again in \(seconds) s",
            retryAfter: seconds)
    }

    /// The times to come back are spread, as with sockets.
    static func tooManyLogins(_ why: String) -> APIError {
        APIError(
            .serviceUnavailable, "TooManyLogins", "\(why): try again later", retryAfter: .random(in: 5...15))
    }
}
