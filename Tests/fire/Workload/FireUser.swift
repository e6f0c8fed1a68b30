import DeviceSync
import Foundation

/// The users of clients under fire, one each.
enum FireUser {
    private static let password = "correct horse"
    /// A machine that is busy otherwise takes minutes to hash the passwords of all clients, which come at once.
    private static let attempts = 5

    /// Registers a user and logs in.
    static func logIn(_ name: String, to app: App) async throws -> User {
        let email = "\(name)-\(UUID().uuidString.lowercased())@example.net"
        try await repeating {
            do {
                try await app.emailPasswordAuth.registerUser(email: email, password: password)
            } catch let error as AppError where error.code == .accountNameInUse {
                // By the attempt before, whose answer came too late.
            }
        }
        return try await repeating {
            try await app.login(credentials: .emailPassword(email: email, password: password))
        }
    }

    private static func repeating<Result>(_ body: () async throws -> Result) async throws -> Result {
        for _ in 1..<attempts {
            do {
                return try await body()
            } catch let error as AppError where error.code == .httpRequestFailed {
                continue
            }
        }
        return try await body()
    }
}
