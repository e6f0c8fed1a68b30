internal import SyncModel

/// A way to log in, with what the server needs for it.
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
    /// A token that Facebook gave the app.
    case facebook(accessToken: String)
    /// A code that Google gave the app.
    case google(serverAuthCode: String)
    /// An identity token of Google.
    case googleId(token: String)
    /// An identity token of Apple.
    case apple(idToken: String)
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
        case .facebook: "oauth2-facebook"
        case .google, .googleId: "oauth2-google"
        case .apple: "oauth2-apple"
        }
    }

    /// The login's body without `options`.
    var members: [String: JSONValue] {
        func payload(_ members: [String: String]) -> [String: JSONValue] {
            members.mapValues { .string($0) }.merging(["provider": .string(provider)], uniquingKeysWith: { $1 })
        }
        return switch self {
        case .anonymous: payload([:])
        case .emailPassword(let email, let password): payload(["username": email, "password": password])
        case .jwt(let token): payload(["token": token])
        case .userAPIKey(let key), .serverAPIKey(let key): payload(["key": key])
        case .facebook(let token): payload(["accessToken": token])
        case .google(let code): payload(["authCode": code])
        case .googleId(let token), .apple(let token): payload(["id_token": token])
        // The app's own members, and nothing else.
        case .function(let payload): payload.extendedJSON
        }
    }
}
