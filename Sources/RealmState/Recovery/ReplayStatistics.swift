/// The fates of the instructions of a replay.
package struct ReplayStatistics: Equatable, Sendable {
    package var applied = 0
    package var droppedMissingObject = 0
    package var droppedPath = 0
    package var droppedLink = 0
    package var droppedAmbiguousList = 0
    package var listsCopied = 0

    package init() {}
}

/// Why unsynced changes cannot be replayed.
package struct ReplayFailure: Error, Sendable, CustomStringConvertible {
    package var description: String
}
