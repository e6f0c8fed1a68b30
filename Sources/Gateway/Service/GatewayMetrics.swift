import Messages
import Metrics
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
    private let spoolFailureMeter = Meter(label: "sluice.gateway.deliveries.spool_failures")
    private let bindingMeter = Meter(label: "sluice.gateway.bindings")
    private let patternMeter = Meter(label: "sluice.gateway.binding_patterns")
    private let publishFailures = Counter(label: "sluice.gateway.publish.failures")
    private let requestTimeouts = Counter(label: "sluice.gateway.requests.timeouts")
    private let undecodableMessages = Counter(label: "sluice.gateway.messages.undecodable")
    private let heldBack = Counter(label: "sluice.gateway.sending.refused")
    private let missedNotices = Counter(label: "sluice.gateway.notices.missed")
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

    /// Bodies of deliveries that wait in memory and in the spool's file, in bytes.
    func holds(_ spool: (held: Int, spooled: Int, failures: Int)) {
        heldMeter.set(spool.held)
        spooledMeter.set(spool.spooled)
        spoolFailureMeter.set(spool.failures)
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
    func publishFailed() { publishFailures.increment() }
    func requestTimedOut() { requestTimeouts.increment() }
    func undecodable() { undecodableMessages.increment() }
    func sendingRefused() { heldBack.increment() }
    func missedNotice() { missedNotices.increment() }
    func answered(afterMilliseconds duration: UInt64) { requestTimer.recordMilliseconds(Int64(clamping: duration)) }

    /// From the login's or registration's wish to have a password hashed, so with the time that it waited.
    func passwordHashed(after duration: Duration) {
        passwordTimer.recordMilliseconds(Int64(clamping: duration.milliseconds))
    }

    /// - Parameter limit: `address`, `account`, `app` or `queue`.
    func loginRefused(app: String, limit: String) {
        Counter(label: "sluice.gateway.logins.refused", dimensions: [("app", app), ("limit", limit)]).increment()
    }

    func foreignKeysFetched(isDone: Bool) {
        Counter(label: "sluice.gateway.foreign_keys.fetched", dimensions: [("outcome", isDone ? "done" : "failed")])
            .increment()
    }

    /// - Parameter outcome: `sent`, `failed` or `refused`.
    func mail(_ outcome: String) {
        Counter(label: "sluice.gateway.mails", dimensions: [("outcome", outcome)]).increment()
    }

    func received(_ name: String) {
        Counter(label: "sluice.gateway.messages.received", dimensions: [("type", name)]).increment()
    }

    func uploaded(app: String, changesets: Int, bytes: Int) {
        Counter(label: "sluice.gateway.uploads", dimensions: [("app", app)]).increment(by: changesets)
        totalChangesets.add(UInt64(clamping: changesets), ordering: .relaxed)
        Counter(label: "sluice.gateway.upload.bytes", dimensions: [("app", app)]).increment(by: bytes)
    }

    func downloaded(app: String, bytes: Int) {
        Counter(label: "sluice.gateway.download.bytes", dimensions: [("app", app)]).increment(by: bytes)
    }

    func error(code: Int) {
        Counter(label: "sluice.gateway.errors", dimensions: [("code", String(code))]).increment()
        totalErrors.add(1, ordering: .relaxed)
    }

    /// A client that does not know the app's rules wanted to sync.
    func refusedIncompatible(app: String) {
        Counter(label: "sluice.gateway.binds.incompatible", dimensions: [("app", app)]).increment()
    }

    /// A client was told that its app has moved to the other sync mode.
    func moved(app: String) {
        Counter(label: "sluice.gateway.binds.moved", dimensions: [("app", app)]).increment()
    }

    /// A BIND was refused for what its user may do.
    func bindDenied(app: String, reason: String) {
        Counter(label: "sluice.gateway.binds.denied", dimensions: [("app", app), ("reason", reason)]).increment()
    }

    func socketRefused(app: String) {
        Counter(label: "sluice.gateway.sockets.refused", dimensions: [("app", app)]).increment()
    }

    /// Something was refused that goes beyond a quota.
    func quotaMet(_ quota: Quota, app: String) {
        Counter(label: "sluice.gateway.quotas.met", dimensions: [("app", app), ("quota", quota.rawValue)]).increment()
    }

    /// The answer to a failed request waits: its address or its app has had many.
    func failureDelayed() { Counter(label: "sluice.gateway.failures.delayed").increment() }

    /// A socket is not read for a moment, because its messages come too fast whatever they say.
    func slowed(app: String) { Counter(label: "sluice.gateway.sockets.slowed", dimensions: [("app", app)]).increment() }

    /// A socket is opened or read a moment later, so that nothing comes faster than a quota allows.
    func slowed(by quota: Quota, app: String) {
        Counter(label: "sluice.gateway.quotas.slowed", dimensions: [("app", app), ("quota", quota.rawValue)])
            .increment()
    }

    func upgrade(_ outcome: String) {
        Counter(label: "sluice.gateway.upgrades", dimensions: [("outcome", outcome)]).increment()
    }
}
