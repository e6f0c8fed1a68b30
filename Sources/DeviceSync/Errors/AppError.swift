public import Foundation

/// Why a call to the server's HTTP API failed.
public struct AppError: Error, CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
    /// The kind of failure. Server codes keep the server's name, first letter in lower case.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No or an unexpected answer.
        public static let unknown = Code(rawValue: "unknown")
        /// The request could not be carried out, or the answer had a failure status without an error code.
        public static let httpRequestFailed = Code(rawValue: "httpRequestFailed")
        /// The token is invalid, expired or revoked.
        public static let invalidSession = Code(rawValue: "invalidSession")
        /// Wrong password or unknown account.
        public static let invalidPassword = Code(rawValue: "invalidPassword")
        /// The account exists already.
        public static let accountNameInUse = Code(rawValue: "accountNameInUse")
        /// The request was not understood.
        public static let badRequest = Code(rawValue: "badRequest")
        /// The user is disabled.
        public static let userDisabled = Code(rawValue: "userDisabled")
        /// The app does not offer this way to log in.
        public static let authProviderNotFound = Code(rawValue: "authProviderNotFound")
        /// Authentication failed.
        public static let authError = Code(rawValue: "authError")

        init(serverName: String) {
            self.init(rawValue: serverName.prefix(1).lowercased() + serverName.dropFirst())
        }
    }

    /// The kind of failure.
    public let code: Code
    /// The server's or client's sentence.
    public let message: String
    /// The HTTP status, nil if there was no answer.
    public let httpStatusCode: Int?
    /// The server's log of the request.
    public let serverLogURL: URL?

    init(_ code: Code, _ message: String, httpStatusCode: Int? = nil, serverLogURL: URL? = nil) {
        self.code = code
        self.message = message
        self.httpStatusCode = httpStatusCode
        self.serverLogURL = serverLogURL
    }

    /// `io.realm.app`.
    public static var errorDomain: String { "io.realm.app" }
    /// -1 for `unknown`, 1 for a failed request, 2 for what the server said.
    public var errorCode: Int {
        switch code {
        case .unknown: -1
        case .httpRequestFailed: 1
        default: 2
        }
    }
    /// The sentence, the status and the log address.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        info["HTTP Status Code"] = httpStatusCode
        info["Server Log URL"] = serverLogURL
        return info
    }
    /// The sentence.
    public var errorDescription: String? { message }
    /// Code and sentence.
    public var description: String { "\(code.rawValue): \(message)" }
}
