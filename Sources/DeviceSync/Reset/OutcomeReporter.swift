internal import Dispatch
internal import Logging
internal import Synchronization

/// Tells the server how client resets ended: queued on disk, sent at least once, tried again until it works. Servers
/// that do not know the call answer 404; that counts as told.
final class OutcomeReporter: Sendable {
    private struct Contents {
        var core: AppReference?
        var isSending = false
        /// Something was queued since the sending began, perhaps too late for it.
        var isWantedAgain = false
        var failures = 0
    }
    private let contents = Mutex(Contents())
    private let store: MetadataStore
    private let logger: Logging.Logger

    init(store: MetadataStore, logger: Logging.Logger) {
        self.store = store
        self.logger = logger
    }

    func attach(_ core: AppCore) {
        contents.withLock { $0.core = AppReference(core) }
        flush()
    }

    /// - Returns: whether the report is queued; if not, it is for the caller to keep.
    func report(_ outcome: ResetOutcome, user: String) -> Bool {
        do {
            try store.addOutcome(outcome, user: user)
        } catch {
            logger.error("cannot queue a reset outcome", metadata: ["error": "\(error)"])
            return false
        }
        flush()
        return true
    }

    /// Sends what is queued, unless that is going on.
    func flush() {
        let core = contents.withLock { contents -> AppCore? in
            guard !contents.isSending else {
                contents.isWantedAgain = true
                return nil
            }
            guard let core = contents.core?.core else { return nil }
            contents.isSending = true
            contents.isWantedAgain = false
            return core
        }
        guard let core else { return }
        // No caller waits for reports; the task ends when the queue is empty or the network is not there.
        Task { [weak self] in
            let succeeded = await Self.send(core, self?.store)
            self?.finished(succeeded)
        }
    }

    private static func send(_ core: AppCore, _ store: MetadataStore?) async -> Bool {
        guard let store else { return true }
        while let batch = try? store.unsentOutcomes(), !batch.isEmpty {
            var progressed = false
            for outcome in batch {
                guard core.users.record(outcome.user)?.accessToken.isEmpty == false else { continue }
                do {
                    try await core.withAccessToken(of: outcome.user) {
                        try await core.http.postResetOutcome(outcome.body, accessToken: $0)
                    }
                } catch {
                    // Refused for good, or unknown to the server: telling it again would not help.
                    guard let status = (error as? AppError)?.httpStatusCode, [400, 404, 405].contains(status) else {
                        return false
                    }
                }
                guard (try? store.markOutcomeSent(outcome.sequence)) != nil else { return false }
                progressed = true
            }
            // What is left belongs to users who are logged out.
            if !progressed { return true }
        }
        return true
    }

    private func finished(_ succeeded: Bool) {
        let delay = contents.withLock { contents -> Double? in
            contents.isSending = false
            contents.failures = succeeded ? 0 : min(contents.failures + 1, 9)
            if succeeded { return contents.isWantedAgain ? 0 : nil }
            return min(300, Double(1 << contents.failures))
        }
        guard let delay else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in self?.flush() }
    }
}
