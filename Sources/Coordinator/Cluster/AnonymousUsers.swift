import Logging
import Storage
import SyncModel
import Synchronization

/// Removes anonymous users that were not seen for long: nobody else can log in as them, and they themselves cannot either
/// once their login has ended. Goes through all users, a few with each beat, and begins again a while after the end.
final class AnonymousUsers: Sendable {
    private struct Walk {
        var cursor: UserCursor?
        /// Milliseconds of Unix time.
        var nextAt: UInt64 = 0
        var removed = 0
    }

    /// Users looked at with one beat.
    static let step = 500
    /// The time between the end of one walk and the next, in milliseconds.
    static let pause: UInt64 = 3_600_000

    private let walk = Mutex(Walk())

    /// What the active coordinator does with each beat.
    func keepUp(_ context: CoordinatorContext) async throws {
        guard let age = context.configuration.anonymousLifetime?.milliseconds else { return }
        let now = context.now
        let current = walk.withLock { $0 }
        guard now >= current.nextAt, now > age else { return }
        let (removed, next) = try await context.store.removeUnseenAnonymousUsers(
            before: now - age, after: current.cursor, limit: Self.step)
        if removed > 0 { CoordinatorMetrics.anonymousUsersRemoved(removed) }
        let total = current.removed + removed
        walk.withLock {
            $0 = next == nil ? Walk(nextAt: now &+ Self.pause) : Walk(cursor: next, removed: total)
        }
        if next == nil, total > 0 {
            context.logger.info("anonymous users not seen for long are gone", metadata: ["count": "\(total)"])
        }
    }
}
