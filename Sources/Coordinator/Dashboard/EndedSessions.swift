import Synchronization

/// The dashboard's sessions that were ended by a log-out, until they would have ended by themselves.
final class EndedSessions: Sendable {
    /// The most sessions that are remembered; beyond them the one is forgotten that would have ended soonest.
    static let most = 10_000

    private let ended = Mutex<[String: UInt64]>([:])

    func end(_ session: String, expiresAt: UInt64, now: UInt64) {
        guard session.utf8.count == 32, expiresAt > now else { return }
        ended.withLock { ended in
            ended[session] = min(expiresAt, now &+ DashboardSession.lifetime)
            guard ended.count > Self.most else { return }
            ended = ended.filter { $0.value > now }
            if ended.count > Self.most, let first = ended.min(by: { $0.value < $1.value }) { ended[first.key] = nil }
        }
    }

    func isEnded(_ session: String) -> Bool { ended.withLock { $0[session] != nil } }
}
