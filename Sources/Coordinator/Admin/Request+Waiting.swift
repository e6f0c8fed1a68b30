import Hummingbird

extension Request {
    /// Carries out what may take long, and cancels it when the client leaves: nobody waits for its answer any more.
    ///
    /// The connection is read to its end for that, so the answer is the last on it and says so (`Connection: close`). Errors do so by
    /// themselves.
    func whileClientWaits<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await self.body.consumeWithCancellationOnInboundClose { _ in try await body() }
        } catch {
            var error = AdminError(error)
            error.isLast = true
            throw error
        }
    }
}
