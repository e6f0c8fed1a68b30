import Messages
import Metrics
import Operations
import SyncModel
import Synchronization

/// Everything that a gateway counts. Dimensions: app, error code, message kind; never a realm, user or client realm.
final class GatewayMetrics: Sendable {
    private let connectionMeter = Meter(label: "sluice.gateway.connections")
    private let sessionMeter = Meter(label: "sluice.gateway.sessions")
    private let linkMeter = Meter(label: "sluice.gateway.broker.up")
    private let unacknowledgedMeter = Meter(label: "sluice.gateway.uploads.unacknowledged.bytes")
    private let heldMeter = Meter(label: "sluice.gateway.deliveries.held_bytes")
    private let spooledMeter = Meter(label: "sluice.gateway.deliveries.spooled_bytes")
    private let spoolFailures = GrowingCounter(Counter(label: "sluice.gateway.deliveries.spool_failures"))
    private let bindingMeter = Meter(label: "sluice.gateway.bindings")
    private let patternMeter = Meter(label: "sluice.gateway.binding_patterns")
    private let publishFailures = Counter(label: "sluice.gateway.publish.failures")
    private let requestTimeouts = Counter(label: "sluice.gateway.requests.timeouts")
    private let undecodableMessages = Counter(label: "sluice.gateway.messages.undecodable")
    private let heldBack = Counter(label: "sluice.gateway.sending.refused")
    private let recentPages = Counter(label: "sluice.gateway.pages.recent")
    private let missedNotices = Counter(label: "sluice.gateway.notices.missed")
    private let queueGauge = KnownGauge("sluice.gateway.queue.ready")
    private let delayedFailures = Counter(label: "sluice.gateway.failures.delayed")
    private let mails = LabelledCounter("sluice.gateway.mails", "outcome", ["sent", "failed", "refused"])
    private let foreignKeys = LabelledCounter("sluice.gateway.foreign_keys.fetched", "outcome", ["done", "failed"])
    private let apps = AppCounters<GatewayCounter>()
    private let appSessionsGauge = KnownGauge("sluice.gateway.app.sessions", "app")
    private let appTotals = AppTotals()
    private let passwordTimer = Timer(label: "sluice.gateway.password.duration.seconds")
    private let requestTimer = Timer(label: "sluice.gateway.request.duration.seconds")
    // What coordinators are told; the metrics' backend keeps its sums to itself.
    private let lastConnections = Atomic(0)
    private let lastSessions = Atomic(0)
    private let totalChangesets = Atomic<UInt64>(0)
    private let totalErrors = Atomic<UInt64>(0)

    /// How the gateway stands, and what it has done since it started.
    func figures(of gateway: String, at now: UInt64, isStaying: Bool) -> GatewayFigures {
        GatewayFigures(
            gateway: gateway, at: now, connections: lastConnections.load(ordering: .relaxed),
            sessions: lastSessions.load(ordering: .relaxed), changesets: totalChangesets.load(ordering: .relaxed),
            errors: totalErrors.load(ordering: .relaxed), isStaying: isStaying)
    }

    /// The apps that have the most to tell of, with what they have at the gateway; their sessions are shown as well.
    ///
    /// - Parameter sessions: by app, as they are now.
    func apps(sessions: [String: Int]) -> [String: AppFigures] {
        let figures = appTotals.largest(GatewayFigures.mostApps, sessions: sessions)
        appSessionsGauge.show(
            Dictionary(uniqueKeysWithValues: figures.map { ([$0.key], Double($0.value.sessions)) }))
        return figures
    }

    /// Bodies of deliveries that wait in memory and in the spool's file, in bytes.
    func holds(_ spool: (held: Int, spooled: Int, failures: Int)) {
        heldMeter.set(spool.held)
        spooledMeter.set(spool.spooled)
        spoolFailures.show(spool.failures)
    }
    /// Routing keys that the gateway wants notices of, and patterns that stand for many of them for a while.
    func bindings(_ counts: (keys: Int, patterns: Int)) {
        bindingMeter.set(counts.keys)
        patternMeter.set(counts.patterns)
    }
    func connections(_ count: Int) {
        connectionMeter.set(count)
        lastConnections.store(count, ordering: .relaxed)
    }
    func sessions(_ count: Int) {
        sessionMeter.set(count)
        lastSessions.store(count, ordering: .relaxed)
    }
    func link(isUp: Bool) { linkMeter.set(isUp ? 1 : 0) }
    func unacknowledged(_ bytes: Int) { unacknowledgedMeter.set(bytes) }
    /// - Parameter count: of messages that wait in the gateway's queue; nil while the broker does not say.
    func queueReady(_ count: Int?) { queueGauge.show(count.map(Double.init)) }
    func publishFailed() { publishFailures.increment() }
    func requestTimedOut() { requestTimeouts.increment() }
    func undecodable() { undecodableMessages.increment() }
    func sendingRefused() { heldBack.increment() }
    func caughtUp() { recentPages.increment() }
    func missedNotice() { missedNotices.increment() }
    func answered(afterMilliseconds duration: UInt64) { requestTimer.recordMilliseconds(Int64(clamping: duration)) }

    /// Records the time from a login's or registration's wish to have a password hashed, so with its time of waiting.
    func passwordHashed(after duration: Duration) {
        passwordTimer.recordMilliseconds(Int64(clamping: duration.milliseconds))
    }

    /// - Parameter limit: `address`, `account`, `app` or `queue`.
    func loginRefused(app: String, limit: String) {
        apps.count(.loginsRefused, app, limit)
    }

    func foreignKeysFetched(isDone: Bool) { foreignKeys.count(isDone ? "done" : "failed") }

    /// - Parameter outcome: `sent`, `failed` or `refused`.
    func mail(_ outcome: String) { mails.count(outcome) }

    /// An app is there: what is counted of it is shown from now on.
    func see(app: String) { apps.see(app) }

    func received(_ name: String) { count("sluice.gateway.messages.received", [("type", name)]) }

    func uploaded(app: String, changesets: Int, bytes: Int) {
        apps.count(.uploads, app, by: changesets)
        totalChangesets.add(UInt64(clamping: changesets), ordering: .relaxed)
        apps.count(.uploadBytes, app, by: bytes)
        appTotals.add(to: app) {
            $0.changesets &+= UInt64(clamping: changesets)
            $0.uploadBytes &+= UInt64(clamping: bytes)
        }
    }

    func downloaded(app: String, bytes: Int) {
        apps.count(.downloadBytes, app, by: bytes)
        appTotals.add(to: app) { $0.downloadBytes &+= UInt64(clamping: bytes) }
    }

    func error(code: Int) {
        count("sluice.gateway.errors", [("code", String(code))])
        totalErrors.add(1, ordering: .relaxed)
    }

    /// A client that does not know the app's rules wanted to sync.
    func refusedIncompatible(app: String) { apps.count(.incompatible, app) }

    /// A client was told that its app has moved to the other sync mode.
    func moved(app: String) { apps.count(.moved, app) }

    /// A BIND was refused for what its user may do.
    func bindDenied(app: String, reason: String) { apps.count(.denied, app, reason) }

    func socketRefused(app: String) { apps.count(.socketsRefused, app) }

    /// Something was refused that goes beyond a quota.
    func quotaMet(_ quota: Quota, app: String) { apps.count(.quotasMet, app, quota.rawValue) }

    /// Sessions' views took too much to be looked at here: they ask their owner what a commit means for them.
    func tooDear(_ views: Int, app: String) { apps.count(.tooDear, app, by: views) }

    /// The answer to a failed request waits: its address or its app has had many.
    func failureDelayed() { delayedFailures.increment() }

    /// A socket is not read for a moment, because its messages come too fast whatever they say.
    func slowed(app: String) { apps.count(.socketsSlowed, app) }

    /// A socket is opened or read a moment later, so that nothing comes faster than a quota allows.
    func slowed(by quota: Quota, app: String) { apps.count(.quotasSlowed, app, quota.rawValue) }

    func upgrade(_ outcome: String) { count("sluice.gateway.upgrades", [("outcome", outcome)]) }

    private func count(_ label: String, _ dimensions: [(String, String)]) {
        Counter(label: label, dimensions: dimensions).increment()
    }
}
