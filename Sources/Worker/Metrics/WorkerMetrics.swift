import Messages
import Metrics
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
    private let spoolFailures = Gauge(label: "sluice.worker.deliveries.spool_failures")
    private let slicesStill = Gauge(label: "sluice.worker.slices.standing_still")
    private let takeovers = Counter(label: "sluice.worker.slices.taken")
    private let losses = Counter(label: "sluice.worker.slices.lost")
    private let redeliveries = Counter(label: "sluice.worker.messages.redelivered")
    private let waits = Counter(label: "sluice.worker.messages.waited")
    private let returns = Counter(label: "sluice.worker.messages.returned")
    private let newer = Counter(label: "sluice.worker.messages.newer")

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
        spoolFailures.record(spool.failures)
    }
    func tookSlice() { takeovers.increment() }
    func lostSlice() { losses.increment() }
    func redelivered(_ count: Int) { redeliveries.increment(by: count) }
    /// Given back to the queue with a channel that closed before they were done.
    func returned(_ count: Int) { returns.increment(by: count) }
    func publishesAgain(to target: String) {
        Counter(label: "sluice.worker.publish.repeated", dimensions: [("to", target)]).increment()
    }

    func integrated(_ amount: Int, app: String) {
        count("sluice.worker.changesets.integrated", app, by: amount)
        running.changesets.add(UInt64(clamping: amount), ordering: .relaxed)
    }
    func duplicates(_ amount: Int, app: String) { count("sluice.worker.changesets.duplicates", app, by: amount) }
    /// Changesets that are dated far ahead of this worker's clock.
    func ahead(_ amount: Int, app: String) {
        if amount > 0 { count("sluice.worker.changesets.ahead", app, by: amount) }
    }
    func gap(app: String) { count("sluice.worker.uploads.gaps", app) }
    func refused(app: String) {
        count("sluice.worker.sessions.refused", app)
        running.errors.add(1, ordering: .relaxed)
    }
    /// Counts a session that was let in under older rules than the slice has seen, or under rules that it does not
    /// name, or whose user has changed since.
    func stale(app: String, reason: String) { count("sluice.worker.rules.stale", app, reason) }
    func compensated(_ writes: Int, app: String) { count("sluice.worker.uploads.compensated", app, by: writes) }
    func tooDear(app: String) { count("sluice.worker.views.too_dear", app) }
    func farBehind(app: String) { count("sluice.worker.views.far_behind", app) }
    func denied(app: String, reason: String) { count("sluice.worker.uploads.denied", app, reason) }
    /// Something was refused that goes beyond a quota.
    func quotaMet(_ quota: Quota, app: String) {
        Counter(label: "sluice.worker.quotas.met", dimensions: [("app", app), ("quota", quota.rawValue)]).increment()
    }
    func doubted(app: String) { count("sluice.worker.resets.doubted", app) }
    func deadLettered(app: String?) {
        count("sluice.worker.messages.dead", app ?? "")
        running.errors.add(1, ordering: .relaxed)
    }
    func eventRefused(app: String) { count("sluice.worker.events.refused", app) }
    /// Counts the bytes that are kept of a message that was set aside.
    func setAside(bytes: Int, app: String?) { count("sluice.worker.messages.dead_bytes", app ?? "", by: bytes) }
    func notKept(app: String?) { count("sluice.worker.messages.not_kept", app ?? "") }
    /// A client realm has to reset, and no campaign has asked for it.
    func unaskedReset(app: String) { count("sluice.worker.resets.unasked", app) }
    func heldReset(app: String) { count("sluice.worker.resets.held", app) }
    /// Slices that hold messages and have dealt with none for a while.
    func standsStill(_ slices: Int) { slicesStill.record(slices) }
    /// Slices that ask an operator before more clients reset.
    func holdsResets(_ slices: Int) { slicesHolding.record(slices) }
    func paced(app: String) { count("sluice.worker.resets.paced", app) }
    func outcome(app: String) { count("sluice.worker.outcomes.inferred", app) }

    func expired(_ amount: Int, app: String) { count("sluice.worker.client_files.expired", app, by: amount) }

    func forgotten(app: String) { count("sluice.worker.client_files.forgotten", app) }
    func erased(app: String) { count("sluice.worker.realms.erased", app) }

    func baseWritten(_ bytes: UInt64, app: String) {
        count("sluice.worker.history.bases", app)
        count("sluice.worker.history.base_bytes", app, by: Int(truncatingIfNeeded: bytes))
    }
    func compacted(_ versions: Int, app: String) { count("sluice.worker.history.compacted", app, by: versions) }
    func reclaimed(_ bytes: Int) {
        if bytes > 0 { Counter(label: "sluice.worker.store.reclaimed_bytes").increment(by: bytes) }
    }

    /// An upload whose merge would have taken more than one may.
    func cutOff(app: String) { count("sluice.worker.uploads.cut_off", app) }
    func mergeSteps(_ steps: UInt64, app: String) {
        count("sluice.worker.merge.steps", app, by: Int(clamping: steps))
    }
    /// An upload whose merge goes on beside its slice.
    func mergesAside(app: String) { count("sluice.worker.merges.aside", app) }
    /// A merge that took longer than a second.
    func slowMerge(app: String) { count("sluice.worker.merges.slow", app) }
    /// Messages whose realm or app has had its share of a turn.
    func waited(_ messages: Int) { waits.increment(by: messages) }

    func merged(over entries: Int, conflicts: Int, app: String) {
        count("sluice.worker.merge.entries", app, by: entries)
        count("sluice.worker.merge.conflicts", app, by: conflicts)
    }

    private func count(_ label: String, _ app: String, _ reason: String) {
        Counter(label: label, dimensions: [("app", app), ("reason", reason)]).increment()
    }

    private func count(_ label: String, _ app: String, by amount: Int = 1) {
        guard amount > 0 else { return }
        Counter(label: label, dimensions: [("app", app)]).increment(by: amount)
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
