import SyncModel
internal import SyncProtocol

/// Writes of this client that the server undoes, because rules or subscriptions do not allow them. The app hears of a write when it is
/// undone here: when the download cursor reaches the version that undoes it.
struct Compensations {
    private struct Announced {
        var version: ServerVersion
        /// The client's version that wrote what is undone.
        var clientVersion: ClientVersion
        var error: SyncError
    }

    /// So many errors wait for their versions; the app hears of the oldest early if there are more.
    private static let limit = 1_000
    private var announced: [Announced] = []

    /// The server announces that it undoes writes; after a reconnect it says so again.
    /// - Returns: what the app is to be told now.
    mutating func announce(_ body: JSONErrorBody, reached: ServerVersion) -> [SyncError] {
        let new = Announced(
            version: body.compensatingWriteServerVersion ?? 0, clientVersion: body.rejectedClientVersion ?? 0,
            error: SyncError(undoneWrites: body))
        if announced.contains(where: { $0.version == new.version && $0.clientVersion == new.clientVersion }) {
            return []
        }
        let early = announced.count < Self.limit ? [] : [announced.removeFirst().error]
        announced.append(new)
        return early + reach(reached)
    }

    /// The download cursor has reached a version.
    /// - Returns: what the app is to be told now.
    mutating func reach(_ version: ServerVersion) -> [SyncError] {
        let due = announced.filter { $0.version <= version }
        announced.removeAll { $0.version <= version }
        return due.map(\.error)
    }
}
