// The calls of email and password accounts for programs without tasks. Each calls its completion on the callback queue, with the error or nil.
extension EmailPasswordAuth {
    /// Confirms an account with what the confirmation mail carried.
    public func confirmUser(
        _ token: String, tokenId: String, completion: @Sendable @escaping ((any Error)?) -> Void
    ) {
        queue.complete(completion) { try await self.confirmUser(token, tokenId: tokenId) }
    }

    /// Asks for another confirmation mail.
    public func resendConfirmationEmail(_ email: String, completion: @Sendable @escaping ((any Error)?) -> Void) {
        queue.complete(completion) { try await self.resendConfirmationEmail(email) }
    }

    /// Asks the confirmation function to run again.
    public func retryCustomConfirmation(_ email: String, completion: @Sendable @escaping ((any Error)?) -> Void) {
        queue.complete(completion) { try await self.retryCustomConfirmation(email) }
    }

    /// Asks for a mail that allows to set a new password.
    public func sendResetPasswordEmail(_ email: String, completion: @Sendable @escaping ((any Error)?) -> Void) {
        queue.complete(completion) { try await self.sendResetPasswordEmail(email) }
    }

    /// Sets a new password with what that mail carried.
    public func resetPassword(
        to password: String, token: String, tokenId: String, completion: @Sendable @escaping ((any Error)?) -> Void
    ) {
        queue.complete(completion) { try await self.resetPassword(to: password, token: token, tokenId: tokenId) }
    }

    /// Has the app's own function set a new password.
    public func callResetPasswordFunction(
        email: String, password: String, args: [AnyBSON], completion: @Sendable @escaping ((any Error)?) -> Void
    ) {
        queue.complete(completion) {
            try await self.callResetPasswordFunction(email: email, password: password, args: args)
        }
    }

    /// Has the app's own function set a new password.
    @_disfavoredOverload
    public func callResetPasswordFunction(
        email: String, password: String, args: [AnyBSON], _ completion: @escaping EmailPasswordAuthOptionalErrorBlock
    ) {
        callResetPasswordFunction(email: email, password: password, args: args, completion: completion)
    }
}

/// Takes why a call has failed; nil if it has not.
public typealias EmailPasswordAuthOptionalErrorBlock = @Sendable ((any Error)?) -> Void
