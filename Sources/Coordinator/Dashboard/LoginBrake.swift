import Synchronization

/// Slows down whoever tries tokens at the dashboard's login: after so many wrong ones within a minute, further wrong ones are only
/// told to come later. The right one is let in all the same, so nobody can lock others out.
final class LoginBrake: Sendable {
    static let wrongPerMinute = 20
    private static let minute: UInt64 = 60_000

    private let state = Mutex<(count: Int, since: UInt64)>((0, 0))

    /// Notes a wrong attempt.
    /// - Returns: whether there were too many.
    func wrong(at now: UInt64) -> Bool {
        state.withLock { state in
            if now < state.since || now - state.since >= Self.minute { state = (0, now) }
            state.count = min(state.count + 1, Self.wrongPerMinute + 1)
            return state.count > Self.wrongPerMinute
        }
    }
}
