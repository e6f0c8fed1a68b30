internal import Dispatch
internal import SyncModel

/// Accounts with email and password.
public final class EmailPasswordAuth: Sendable {
    private let core: AppCore
    var queue: DispatchQueue { core.syncManager.callbackQueue }

    init(core: AppCore) { self.core = core }

    /// Creates an account.
    /// - Throws: `AppError`, `accountNameInUse` among others.
    public func registerUser(email: String, password: String) async throws {
        try await core.http.emailPassword("register", ["email": .string(email), "password": .string(password)])
    }

    /// Creates an account, then calls `completion`.
    public func registerUser(
        email: String, password: String, completion: @Sendable @escaping ((any Error)?) -> Void
    ) {
        queue.complete(completion) { try await self.registerUser(email: email, password: password) }
    }

    /// Confirms an account with what the confirmation mail carried.
    /// - Throws: `AppError`.
    public func confirmUser(_ token: String, tokenId: String) async throws {
        try await core.http.emailPassword("confirm", ["token": .string(token), "tokenId": .string(tokenId)])
    }

    /// Asks for another confirmation mail.
    /// - Throws: `AppError`.
    public func resendConfirmationEmail(_ email: String) async throws {
        try await core.http.emailPassword("confirm/send", ["email": .string(email)])
    }

    /// Asks the confirmation function to run again.
    /// - Throws: `AppError`.
    public func retryCustomConfirmation(_ email: String) async throws {
        try await core.http.emailPassword("confirm/call", ["email": .string(email)])
    }

    /// Asks for a mail that allows to set a new password.
    /// - Throws: `AppError`.
    public func sendResetPasswordEmail(_ email: String) async throws {
        try await core.http.emailPassword("reset/send", ["email": .string(email)])
    }

    /// Sets a new password with what that mail carried.
    /// - Throws: `AppError`.
    public func resetPassword(to password: String, token: String, tokenId: String) async throws {
        try await core.http.emailPassword(
            "reset", ["password": .string(password), "token": .string(token), "tokenId": .string(tokenId)])
    }

    /// Has the app's own function set a new password. What it expects beside email and password is for the app to know.
    /// - Throws: `AppError`.
    public func callResetPasswordFunction(email: String, password: String, args: [AnyBSON]) async throws {
        try await core.http.emailPassword(
            "reset/call",
            [
                "email": .string(email), "password": .string(password),
                "arguments": .array(args.map(\.extendedJSON)),
            ])
    }
}
