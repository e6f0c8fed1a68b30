/// What became of the instructions of a replay.
struct ReplayStatistics: Equatable, Sendable {
    var applied = 0
    var droppedMissingObject = 0
    var droppedPath = 0
    var droppedLink = 0
    var droppedAmbiguousList = 0
    var listsCopied = 0
}

/// Why unsynced changes cannot be replayed.
struct ReplayFailure: Error, Sendable, CustomStringConvertible {
    var description: String
}
