/// What a stock client would not have put up with, or never got.
struct StockClientError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }

    /// Asks again and again until there is a value.
    static func within<Value: Sendable>(
        _ what: String, limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
        _ value: () async throws -> Value?
    ) async throws -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            if let value = try await value() { return value }
            guard ContinuousClock.now < deadline else { throw StockClientError("waited \(limit) until \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
