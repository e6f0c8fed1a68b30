package import SyncModel

/// When to try again (docs/protocol.md, "Timers and backoff"): 1, 2, 4 … 300 seconds, less up to a quarter at random.
///
/// One for the connection and one for each session. The series is keyed by the reason: the same reason continues it,
/// another starts it anew, and a peer's own policy counts only at such a start. A success does not reset it.
package struct Backoff<Reason: Hashable & Sendable>: Sendable {
    package enum Delay: Hashable, Sendable {
        case after(Duration)
        /// Only an event from outside (network change, token refresh, the app) may try again.
        case never
    }

    private struct Series: Sendable {
        let reason: Reason
        let policy: BackoffPolicy
        var seconds: Double
    }

    package let policy: BackoffPolicy
    private var series: Series?

    package init(policy: BackoffPolicy = .standard) { self.policy = policy }

    /// Forgets the series: after a token refresh, or when the app asks for a reconnect.
    package mutating func reset() { series = nil }

    /// The delay after one more failure for `reason`.
    /// - Parameters:
    ///   - peerPolicy: the `backoff…` keys of the error; they begin a series but do not change one.
    ///   - generator: the randomness; injected, so that tests can repeat it.
    package mutating func next(
        after reason: Reason, peerPolicy: BackoffPolicy? = nil, using generator: inout some RandomNumberGenerator
    ) -> Delay {
        var current: Series
        if let series, series.reason == reason {
            current = series
            let factor = Double(max(1, current.policy.multiplier))
            current.seconds = min(current.seconds * factor, Self.ceiling(of: current.policy))
        } else {
            let policy = peerPolicy ?? policy
            let first = Double(max(0, policy.intervalSeconds))
            current = Series(reason: reason, policy: policy, seconds: min(first, Self.ceiling(of: policy)))
        }
        series = current
        let jitter = Double.random(in: 0..<0.25, using: &generator)
        return .after(.seconds(current.seconds * (1 - jitter)))
    }

    /// The delay after a session's or connection's error: the exceptions of section 12, else `next`.
    package mutating func next(
        after reason: Reason, code: ErrorCode, tryAgain: Bool, peerPolicy: BackoffPolicy? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Delay {
        guard tryAgain else { return .never }
        if code == .sessionClosed { return .after(.seconds(1)) }
        return next(after: reason, peerPolicy: peerPolicy, using: &generator)
    }

    // A day: a hostile policy must not put a client to sleep for longer than a person waits.
    private static func ceiling(of policy: BackoffPolicy) -> Double {
        Double(min(86_400, max(0, policy.maxDelaySeconds)))
    }
}

/// Why a client tries again; the key of its backoff series.
package enum RetryReason: Hashable, Sendable {
    case sessionError(ErrorCode)
    case connectionError(ErrorCode)
    case connectionEnd(ConnectionEnd)
}
