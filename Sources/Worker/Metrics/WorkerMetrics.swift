import Messages
import Metrics
import Operations
import SyncModel
import Synchronization

/// Everything that workers count; dimensions: the app, and a reason where there are several.
package struct WorkerMetrics: Sendable {
    private let commitDuration = Timer(label: "sluice.worker.commit.duration_seconds", preferredDisplayUnit: .seconds)
    private let batchSize = Recorder(label: "sluice.worker.batch.messages")
    private let batchDuration = Timer(label: "sluice.worker.batch.duration_seconds", preferredDisplayUnit: .seconds)
    private let expired = Counter(label: "sluice.worker.requests.expired")
    private let repeated = Counter(label: "sluice.worker.requests.repeated")
    private let slicesOwned = Gauge(label: "sluice.worker.slices.owned")
    private let slicesHolding = Gauge(label: "sluice.worker.slices.holding_resets")
    private let heldBytes = Gauge(label: "sluice.worker.deliveries.held_bytes")
    private let spooledBytes = Gauge(label: "sluice.worker.deliveries.spooled_bytes")
    private let spoolFailures = GrowingCounter(Counter(label: "sluice.worker.deliveries.spool_failures"))
    private let slicesStill = Gauge(label: "sluice.worker.slices.standing_still")
    private let takeovers = Counter(label: "sluice.worker.slices.taken")
    private let losses = Counter(label: "sluice.worker.slices.lost")
    private let redeliveries = Counter(label: "sluice.worker.messages.redelivered")
    private let waits = Counter(label: "sluice.worker.messages.waited")
    private let returns = Counter(label: "sluice.worker.messages.returned")
    private let newer = Counter(label: "sluice.worker.messages.newer")
    private let changes = Counter(label: "sluice.worker.changes.published")
    private let reclaimed = Counter(label: "sluice.worker.store.reclaimed_bytes")
    private let publishedAgain = LabelledCounter(
        "sluice.worker.publish.repeated", "to", WorkerPublisher.targetNames)
    private let apps = AppCounters<WorkerCounter>()

    private let running = RunningTotals()

    package init() {}

    /// What was done since the worker started.
    var totals: WorkerTotals { running.totals }

    func committed(in duration: Duration) {
        commitDuration.record(duration: duration)
        running.commits.add(1, ordering: .relaxed)
    }

    func batch(of messages: Int, in duration: Duration) {
        batchSize.record(messages)
        batchDuration.record(duration: duration)
    }

    func requestExpired() { expired.increment() }
    func gaveBackNewer() { newer.increment() }
    /// Counts a request of a session that has made it already, or has ended.
    func requestRepeated() { repeated.increment() }
    func owns(_ count: Int) { slicesOwned.record(count) }
    /// Bodies of deliveries that wait in memory and in the spool's file, in bytes.
    func holds(_ spool: (held: Int, spooled: Int, failures: Int)) {
        heldBytes.record(spool.held)
        spooledBytes.record(spool.spooled)
        spoolFailures.show(spool.failures)
    }
    func tookSlice() { takeovers.increment() }
    func lostSlice() { losses.increment() }
    func redelivered(_ count: Int) { redeliveries.increment(by: count) }
    /// Given back to the queue with a channel that closed before they were done.
    func returned(_ count: Int) { returns.increment(by: count) }
    /// Changes of documents have arrived at the broker.
    func told(_ count: Int) { if count > 0 { changes.increment(by: count) } }
    func publishesAgain(to target: String) { publishedAgain.count(target) }

    /// An app is there: what is counted of it is shown from now on.
    func see(app: String) { apps.see(app) }

    func integrated(_ amount: Int, app: String) {
        apps.count(.integrated, app, by: amount)
        running.changesets.add(UInt64(clamping: amount), ordering: .relaxed)
    }
    func duplicates(_ amount: Int, app: String) { apps.count(.duplicates, app, by: amount) }
    /// Changesets that are dated far ahead of this worker's clock.
    func ahead(_ amount: Int, app: String) { apps.count(.ahead, app, by: amount) }
    func gap(app: String) { apps.count(.gaps, app) }
    func refused(app: String) {
        apps.count(.refused, app)
        running.errors.add(1, ordering: .relaxed)
    }
    /// Counts a session that was let in under older rules than the slice has seen, or under rules that it does not
    /// name, or whose user has changed since.
    func stale(app: String, reason: String) { apps.count(.stale, app, reason) }
    func compensated(_ writes: Int, app: String) { apps.count(.compensated, app, by: writes) }
    func tooDear(app: String) { apps.count(.tooDear, app) }
    func farBehind(app: String) { apps.count(.farBehind, app) }
    func denied(app: String, reason: String) { apps.count(.denied, app, reason) }
    /// Something was refused that goes beyond a quota.
    func quotaMet(_ quota: Quota, app: String) { apps.count(.quotasMet, app, quota.rawValue) }
    func doubted(app: String) { apps.count(.doubted, app) }
    func deadLettered(app: String?) {
        apps.count(.dead, app ?? "")
        running.errors.add(1, ordering: .relaxed)
    }
    func eventRefused(app: String) { apps.count(.eventsRefused, app) }
    /// Counts the bytes that are kept of a message that was set aside.
    func setAside(bytes: Int, app: String?) { apps.count(.deadBytes, app ?? "", by: bytes) }
    func notKept(app: String?) { apps.count(.notKept, app ?? "") }
    /// A client realm has to reset, and no campaign has asked for it.
    func unaskedReset(app: String) { apps.count(.unasked, app) }
    func heldReset(app: String) { apps.count(.held, app) }
    /// Slices that hold messages and have dealt with none for a while.
    func standsStill(_ slices: Int) { slicesStill.record(slices) }
    /// Slices that ask an operator before more clients reset.
    func holdsResets(_ slices: Int) { slicesHolding.record(slices) }
    func paced(app: String) { apps.count(.paced, app) }
    func outcome(app: String) { apps.count(.inferred, app) }

    func expired(_ amount: Int, app: String) { apps.count(.expired, app, by: amount) }

    func forgotten(app: String) { apps.count(.forgotten, app) }
    func erased(app: String) { apps.count(.erased, app) }

    func baseWritten(_ bytes: UInt64, app: String) {
        apps.count(.bases, app)
        apps.count(.baseBytes, app, by: Int(clamping: bytes))
    }
    func compacted(_ versions: Int, app: String) { apps.count(.compacted, app, by: versions) }
    func reclaimed(_ bytes: Int) {
        if bytes > 0 { reclaimed.increment(by: bytes) }
    }

    /// An upload whose merge would have taken more than one may.
    func cutOff(app: String) { apps.count(.cutOff, app) }
    func mergeSteps(_ steps: UInt64, app: String) { apps.count(.mergeSteps, app, by: Int(clamping: steps)) }
    /// An upload whose merge goes on beside its slice.
    func mergesAside(app: String) { apps.count(.mergesAside, app) }
    /// A look at views that goes on beside its slice: a set is read, or an object is tried on one.
    func looksAside(app: String) { apps.count(.looksAside, app) }
    /// A merge that took longer than a second.
    func slowMerge(app: String) { apps.count(.mergesSlow, app) }
    /// Messages whose realm or app has had its share of a turn.
    func waited(_ messages: Int) { waits.increment(by: messages) }

    func merged(over entries: Int, conflicts: Int, app: String) {
        apps.count(.mergeEntries, app, by: entries)
        apps.count(.mergeConflicts, app, by: conflicts)
    }
}

/// What a worker has done since it started, for its heartbeats; the metrics' backend keeps its sums to itself.
private final class RunningTotals: Sendable {
    let changesets = Atomic<UInt64>(0)
    let commits = Atomic<UInt64>(0)
    let errors = Atomic<UInt64>(0)

    var totals: WorkerTotals {
        WorkerTotals(
            changesets: changesets.load(ordering: .relaxed), commits: commits.load(ordering: .relaxed),
            errors: errors.load(ordering: .relaxed))
    }
}
