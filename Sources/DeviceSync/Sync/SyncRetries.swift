import SyncModel
internal import SyncProtocol

/// When a realm tries again after errors: the server's, and those of this device's storage. Confined to the connection's queue.
final class SyncRetries {
    private var backoff = Backoff<RetryReason>()
    /// The work that this device's storage failed at and has not done since.
    private var interrupted: Set<StorageWork> = []

    /// Syncing starts from what the file says.
    func started() { interrupted = [] }

    /// The app wants no waiting for what has failed so far.
    func forget() { backoff.reset() }

    /// Notes an error of the server.
    /// - Returns: nil if only an event from outside may try again.
    func delay(
        after code: ErrorCode, _ body: JSONErrorBody, using random: inout some RandomNumberGenerator
    ) -> Duration? {
        let delay = backoff.next(
            after: .sessionError(code), code: code, tryAgain: body.tryAgain, peerPolicy: body.backoff, using: &random)
        return if case .after(let duration) = delay { duration } else { nil }
    }

    /// Notes that this device's storage failed.
    /// - Returns: the delay, and whether nothing else has failed that was not done since.
    func failed(
        at work: StorageWork, using random: inout some RandomNumberGenerator
    ) -> (delay: Duration, isFirst: Bool)? {
        guard case .after(let delay) = backoff.next(after: .sessionError(.otherSessionError), using: &random) else {
            return nil
        }
        let isFirst = interrupted.isEmpty
        interrupted.insert(work)
        return (delay, isFirst)
    }

    /// Notes that the storage has done what it may have failed at before. Other work that succeeds says nothing about that: a history
    /// that cannot be read does not keep a DOWNLOAD from being stored.
    func succeeded(at work: StorageWork) {
        guard interrupted.remove(work) != nil, interrupted.isEmpty else { return }
        backoff.reset()
    }

    /// Whether work has failed that was not done since.
    func isInterrupted(_ work: StorageWork) -> Bool { interrupted.contains(work) }
}
