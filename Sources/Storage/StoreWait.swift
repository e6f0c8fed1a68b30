/// Does something with a store that may be away: as often as it takes, with a pause that grows to five seconds.
///
/// A process that begins just as its store goes away waits for it, as one does that has begun before; it does not end.
///
/// - Parameter waits: told each time that the store is away.
/// - Throws: what no waiting mends; `CancellationError`.
package func waitingForStore<Value: Sendable>(
    telling waits: @Sendable (StoreError) -> Void, first pause: Duration = .milliseconds(250),
    _ body: @Sendable () async throws -> Value
) async throws -> Value {
    var pause = pause
    while true {
        do {
            return try await body()
        } catch let error as StoreError where error.isRetriable {
            try Task.checkCancellation()
            waits(error)
        }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .seconds(5))
    }
}
