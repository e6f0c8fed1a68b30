import Messages
import Metrics
import Operations
import Storage

/// What coordinators count by app.
enum CoordinatorCounter: String, AppCounter {
    case deadLettersDropped = "sluice.coordinator.dead_letters_dropped"
    case agedOut = "sluice.coordinator.campaigns.aged_out"
    case outcomesUnknown = "sluice.coordinator.outcomes.unknown"

    var label: CounterLabel? { nil }
}

/// The coordinator's metrics, all in one place; docs/metrics.md has the table.
enum CoordinatorMetrics {
    private static let reports = LabelledCounter(
        "sluice.coordinator.reports", "type", [FoundReport.type, NotifiedReport.type, OutcomeReport.type])
    private static let refused = LabelledCounter(
        "sluice.coordinator.admin.refused", "reason", ["missing", "unknown", "origin", "role"])
    private static let newer = Counter(label: "sluice.coordinator.newer")
    private static let unusable = Counter(label: "sluice.coordinator.dead_lettered")
    private static let ticks = Counter(label: "sluice.coordinator.ticks")
    private static let droppedOutcomes = Counter(label: "sluice.coordinator.outcomes_dropped")
    private static let terminations = Counter(label: "sluice.coordinator.terminations_published")
    private static let anonymousUsers = Counter(label: "sluice.coordinator.anonymous_users.removed")
    private static let apps = AppCounters<CoordinatorCounter>()

    /// Shows all counters at 0 before their first event.
    static func start() {
        _ = (reports, refused, newer, unusable, ticks, droppedOutcomes, terminations, anonymousUsers)
    }

    /// An app is there: what is counted of it is shown from now on.
    static func see(app: String) { apps.see(app) }

    static func reportsProcessed(_ type: String, _ count: Int) { reports.count(type, by: count) }

    static func gaveBackNewer(_ count: Int) { newer.increment(by: count) }

    static func deadLettered(_ count: Int) { unusable.increment(by: count) }

    static func deadLetters(_ count: Int) {
        Gauge(label: "sluice.coordinator.dead_letters").record(count)
    }

    static func deadLettersDropped(_ count: Int, app: String) { apps.count(.deadLettersDropped, app, by: count) }

    static func ticked(_ count: Int) { ticks.increment(by: count) }

    static func outcomesDropped(_ count: Int) { droppedOutcomes.increment(by: count) }

    static func terminationsPublished() { terminations.increment() }

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

    /// - Parameter reason: `missing`, `unknown`, `origin` or `role`.
    static func adminRefused(_ reason: String) { refused.count(reason) }

    static func anonymousUsersRemoved(_ count: Int) { anonymousUsers.increment(by: count) }

    /// Apps that were deleted and of which something is left.
    static func deletions(_ count: Int) { Gauge(label: "sluice.coordinator.deletions.unfinished").record(count) }

    /// Apps on their way from one sync mode to the other.
    static func migrations(_ count: Int) { Gauge(label: "sluice.coordinator.migrations.unfinished").record(count) }

    /// Campaigns closed for their age.
    static func campaignAgedOut(app: String) { apps.count(.agedOut, app) }

    /// Client realms of such campaigns of whose reset nobody has said how it ended.
    static func outcomesUnknown(_ count: Int, app: String) { apps.count(.outcomesUnknown, app, by: count) }

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
