import Messages
import Metrics
import Operations
import Storage
import SyncModel

/// The counters of coordinators that have a series for each app.
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
    private static let stalledReaders = LabelledCounter(
        "sluice.coordinator.stalled_readers", "stream", StalledReader.Stream.allCases.map(\.rawValue))
    private static let missedChanges = Counter(label: "sluice.coordinator.changes.missed")
    private static let newer = Counter(label: "sluice.coordinator.newer")
    private static let unusable = Counter(label: "sluice.coordinator.dead_lettered")
    private static let ticks = Counter(label: "sluice.coordinator.ticks")
    private static let droppedOutcomes = Counter(label: "sluice.coordinator.outcomes_dropped")
    private static let terminations = Counter(label: "sluice.coordinator.terminations_published")
    private static let anonymousUsers = Counter(label: "sluice.coordinator.anonymous_users.removed")
    private static let apps = AppCounters<CoordinatorCounter>()

    private static let clockOffsets = KnownGauge("sluice.coordinator.clock.offset.seconds", "process")
    private static let outcomes = KnownGauge("sluice.coordinator.outcomes.ready")

    // Figures that only the active coordinator knows.
    private static let letters = KnownGauge("sluice.coordinator.dead_letters")
    private static let keyAges = KnownGauge("sluice.coordinator.signing_key.age.seconds", "purpose")
    private static let backup = KnownGauge("sluice.coordinator.last_backup_at_seconds")
    private static let unfinishedDeletions = KnownGauge("sluice.coordinator.deletions.unfinished")
    private static let unfinishedMigrations = KnownGauge("sluice.coordinator.migrations.unfinished")
    private static let slicesReady = KnownGauge("sluice.coordinator.slice.ready", "slice")
    private static let slicesUnacknowledged = KnownGauge("sluice.coordinator.slice.unacknowledged", "slice")
    private static let slicesOldest = KnownGauge("sluice.coordinator.slice.oldest_seconds", "slice")
    private static let slicesIn = KnownGauge("sluice.coordinator.slice.in_per_second", "slice")
    private static let slicesOut = KnownGauge("sluice.coordinator.slice.out_per_second", "slice")
    private static let campaignRealms = KnownGauge("sluice.campaign.client_realms", "app", "outcome")
    private static let campaignNotified = KnownGauge("sluice.campaign.notified", "app")

    /// Shows all counters at 0 before their first event.
    static func start() {
        _ = (
            reports, refused, stalledReaders, missedChanges, newer, unusable, ticks, droppedOutcomes, terminations,
            anonymousUsers
        )
    }

    /// Takes away what only the active coordinator knows: this one is not, or not any more.
    static func standsBy() {
        for gauge in [
            letters, keyAges, backup, unfinishedDeletions, unfinishedMigrations, slicesReady, slicesUnacknowledged,
            slicesOldest, slicesIn, slicesOut, campaignRealms, campaignNotified,
        ] {
            gauge.show([:])
        }
    }

    /// An app is there: what is counted of it is shown from now on.
    static func see(app: String) { apps.see(app) }

    static func reportsProcessed(_ type: String, _ count: Int) { reports.count(type, by: count) }

    static func gaveBackNewer(_ count: Int) { newer.increment(by: count) }

    static func deadLettered(_ count: Int) { unusable.increment(by: count) }

    static func deadLetters(_ count: Int?) { letters.show(count.map(Double.init)) }

    static func deadLettersDropped(_ count: Int, app: String) { apps.count(.deadLettersDropped, app, by: count) }

    static func ticked(_ count: Int) { ticks.increment(by: count) }

    static func outcomesDropped(_ count: Int) { droppedOutcomes.increment(by: count) }

    static func terminationsPublished() { terminations.increment() }

    static func batchApplied(_ duration: Duration, reports: Int) {
        Timer(label: "sluice.coordinator.batch.duration").record(duration: duration)
        Recorder(label: "sluice.coordinator.batch.reports").record(reports)
    }

    /// How many slices nobody owns, and for how many nobody stands by.
    static func slices(ownerless: Int, withoutStandby: Int) {
        Gauge(label: "sluice.coordinator.slices.ownerless").record(ownerless)
        Gauge(label: "sluice.coordinator.slices.without_standby").record(withoutStandby)
    }

    /// - Parameter offsets: of the processes' clocks, in seconds.
    static func clocks(_ offsets: [[String]: Double]) { clockOffsets.show(offsets) }

    /// - Parameter count: of messages that wait in the outcomes queue; nil while the broker does not say.
    static func outcomesReady(_ count: Int?) { outcomes.show(count.map(Double.init)) }

    /// - Parameter ages: of the keys that sign, in milliseconds.
    static func signingKeys(_ ages: [TokenKind: UInt64]) {
        keyAges.show(Dictionary(uniqueKeysWithValues: ages.map { ([$0.rawValue], Double($1 / 1000)) }))
    }

    /// - Parameter reason: `missing`, `unknown`, `origin` or `role`.
    static func adminRefused(_ reason: String) { refused.count(reason) }

    /// A client that was read for, and took nothing any more.
    static func readerStalled(_ stream: StalledReader.Stream) { stalledReaders.count(stream.rawValue) }

    /// A stream of changes in which one was missing, and that was ended for it.
    static func changeMissed() { missedChanges.increment() }

    static func anonymousUsersRemoved(_ count: Int) { anonymousUsers.increment(by: count) }

    /// Apps that were deleted and of which something is left.
    static func deletions(_ count: Int) { unfinishedDeletions.show(Double(count)) }

    /// Apps on their way from one sync mode to the other.
    static func migrations(_ count: Int) { unfinishedMigrations.show(Double(count)) }

    /// - Parameter moment: that the last backup would bring back, in milliseconds of Unix time; nil if there is none.
    static func lastBackup(_ moment: UInt64?) { backup.show(moment.map { Double($0 / 1000) }) }

    /// Campaigns closed for their age.
    static func campaignAgedOut(app: String) { apps.count(.agedOut, app) }

    /// Client realms of such campaigns of whose reset nobody has said how it ended.
    static func outcomesUnknown(_ count: Int, app: String) { apps.count(.outcomesUnknown, app, by: count) }

    /// How far each slice is behind.
    static func slices(_ figures: SliceFigures) {
        slicesReady.show(figures.ready)
        slicesUnacknowledged.show(figures.unacknowledged)
        slicesOldest.show(figures.oldestSeconds)
        slicesIn.show(figures.inPerSecond)
        slicesOut.show(figures.outPerSecond)
    }

    static func active(_ isActive: Bool) {
        Gauge(label: "sluice.coordinator.active").record(isActive ? 1 : 0)
    }

    /// The client realms of each app's newest campaign, by outcome.
    static func campaigns(_ newest: [CampaignSummary]) {
        var realms: [[String]: Double] = [:]
        var notified: [[String]: Double] = [:]
        for summary in newest {
            let (app, counts) = (summary.campaign.app, summary.counts)
            let parts = [
                ("recovered", counts.recovered), ("discarded", counts.discarded), ("manual", counts.manual),
                ("failed", counts.failed), ("superseded", counts.superseded), ("unknown", counts.unknown),
                ("pending", counts.pending),
            ]
            for (outcome, count) in parts { realms[[app, outcome]] = Double(count) }
            notified[[app]] = Double(counts.notified)
        }
        campaignRealms.show(realms)
        campaignNotified.show(notified)
    }
}
