import Metrics
import Storage

/// The coordinator's metrics, all in one place; docs/admin-api.md has the table.
enum CoordinatorMetrics {
    static func reportsProcessed(_ type: String, _ count: Int) {
        Counter(label: "sluice.coordinator.reports", dimensions: [("type", type)]).increment(by: count)
    }

    static func gaveBackNewer(_ count: Int) { Counter(label: "sluice.coordinator.newer").increment(by: count) }

    static func deadLettered(_ count: Int) {
        Counter(label: "sluice.coordinator.dead_lettered").increment(by: count)
    }

    static func deadLetters(_ count: Int) {
        Gauge(label: "sluice.coordinator.dead_letters").record(count)
    }

    static func deadLettersDropped(_ count: Int, app: String) {
        Counter(label: "sluice.coordinator.dead_letters_dropped", dimensions: [("app", app)]).increment(by: count)
    }

    static func ticked(_ count: Int) {
        Counter(label: "sluice.coordinator.ticks").increment(by: count)
    }

    static func outcomesDropped(_ count: Int) {
        Counter(label: "sluice.coordinator.outcomes_dropped").increment(by: count)
    }

    static func terminationsPublished() {
        Counter(label: "sluice.coordinator.terminations_published").increment()
    }

    static func batchApplied(_ duration: Duration, reports: Int) {
        Timer(label: "sluice.coordinator.batch.duration").record(duration: duration)
        Recorder(label: "sluice.coordinator.batch.reports").record(reports)
    }

    static func ownerless(_ slices: Int) {
        Gauge(label: "sluice.coordinator.slices.ownerless").record(slices)
    }

    static func signingKey(_ kind: TokenKind, age: Duration) {
        Gauge(label: "sluice.coordinator.signing_key.age.seconds", dimensions: [("purpose", kind.rawValue)])
            .record(age.components.seconds)
    }

    /// - Parameter reason: `missing`, `unknown` or `role`.
    static func adminRefused(_ reason: String) {
        Counter(label: "sluice.coordinator.admin.refused", dimensions: [("reason", reason)]).increment()
    }

    static func anonymousUsersRemoved(_ count: Int) {
        Counter(label: "sluice.coordinator.anonymous_users.removed").increment(by: count)
    }

    /// Apps that were deleted and of which something is left.
    static func deletions(_ count: Int) { Gauge(label: "sluice.coordinator.deletions.unfinished").record(count) }

    /// Apps on their way from one sync mode to the other.
    static func migrations(_ count: Int) { Gauge(label: "sluice.coordinator.migrations.unfinished").record(count) }

    /// Campaigns closed for their age.
    static func campaignAgedOut(app: String) {
        Counter(label: "sluice.coordinator.campaigns.aged_out", dimensions: [("app", app)]).increment()
    }

    /// Client realms of such campaigns of whose reset nobody has said how it ended.
    static func outcomesUnknown(_ count: Int, app: String) {
        Counter(label: "sluice.coordinator.outcomes.unknown", dimensions: [("app", app)]).increment(by: count)
    }

    static func active(_ isActive: Bool) {
        Gauge(label: "sluice.coordinator.active").record(isActive ? 1 : 0)
    }

    /// The client realms of each app's newest campaign, by outcome.
    static func campaigns(_ newest: [CampaignSummary]) {
        for summary in newest {
            let counts = summary.counts
            let parts = [
                ("recovered", counts.recovered), ("discarded", counts.discarded), ("manual", counts.manual),
                ("failed", counts.failed), ("superseded", counts.superseded), ("unknown", counts.unknown),
                ("pending", counts.pending),
            ]
            for (outcome, count) in parts {
                Gauge(
                    label: "sluice.campaign.client_realms",
                    dimensions: [("app", summary.campaign.app), ("outcome", outcome)]
                ).record(count)
            }
            Gauge(label: "sluice.campaign.notified", dimensions: [("app", summary.campaign.app)])
                .record(counts.notified)
        }
    }
}
