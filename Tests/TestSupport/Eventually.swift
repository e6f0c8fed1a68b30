/// Polls until the condition holds.
///
/// - Throws: `WaitedTooLong` if it does not within `limit`, which is long because machines may be busy.
package func eventually(
    _ what: String = "what the test waits for", within limit: Duration = .seconds(300),
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw WaitedTooLong(what: what, limit: limit) }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// A condition that never came to hold.
package struct WaitedTooLong: Error, CustomStringConvertible {
    let what: String
    let limit: Duration
    package var description: String { "waited \(limit) until \(what)" }
}
