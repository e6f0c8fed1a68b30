import Logging
import Storage
import SyncModel
import Synchronization

/// Closes campaigns that never close by themselves: some client realms do not come back. Looks at them once in a while, and
/// goes on with each beat as long as there is something to do.
final class AgedCampaigns: Sendable {
    /// Client realms given up with one beat.
    static let step = 2_000
    /// The time between the end of one look and the next, in milliseconds.
    static let pause: UInt64 = 600_000

    private let nextAt = Mutex<UInt64>(0)

    /// Closes campaigns that are too old, with each beat of the active coordinator.
    func keepUp(_ context: CoordinatorContext) async throws {
        guard let age = context.configuration.campaignLifetime?.milliseconds else { return }
        let now = context.now
        guard now > age, now >= nextAt.withLock({ $0 }) else { return }
        let (closed, unknown) = try await context.store.closeCampaigns(
            startedBefore: now - age, limit: Self.step, at: now)
        if closed.isEmpty, unknown.isEmpty { nextAt.withLock { $0 = now &+ Self.pause } }
        for (app, count) in unknown { CoordinatorMetrics.outcomesUnknown(count, app: app) }
        for campaign in closed {
            CoordinatorMetrics.campaignAgedOut(app: campaign.app)
            context.logger.notice(
                "campaign closed for its age; client realms that have not come back stay unknown",
                metadata: ["app": "\(campaign.app)", "campaign": "\(campaign.id)"])
        }
    }
}
