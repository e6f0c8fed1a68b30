internal import SyncModel

/// With what a user logs in.
@frozen public enum Credentials: Sendable {
    /// A new user without an identity of its own.
    case anonymous
    /// An account of this app.
    case emailPassword(email: String, password: String)
    /// A token that another service signed.
    case jwt(token: String)
    /// Whatever the app's authentication function expects.
    case function(payload: Document)
    /// A key that a user made.
    case userAPIKey(String)
    /// A key that an operator made.
    case serverAPIKey(String)
}

extension Credentials {
    /// The name of the provider in the login's path.
    var provider: String {
        switch self {
        case .anonymous: "anon-user"
        case .emailPassword: "local-userpass"
        case .jwt: "custom-token"
        case .function: "custom-function"
        case .userAPIKey, .serverAPIKey: "api-key"
        }
    }

    /// The login's body without `options`.
    func members() throws(AppError) -> [String: JSONValue] {
        switch self {
        case .anonymous: return ["provider": .string(provider)]
        case .emailPassword(let email, let password):
            return ["provider": .string(provider), "username": .string(email), "password": .string(password)]
        case .jwt(let token): return ["provider": .string(provider), "token": .string(token)]
        case .userAPIKey(let key), .serverAPIKey(let key):
            return ["provider": .string(provider), "key": .string(key)]
        case .function:
            throw AppError(.unknown, "custom function credentials are not supported yet")
        }
    }
}
