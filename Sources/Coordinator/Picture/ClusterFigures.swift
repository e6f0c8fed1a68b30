import AdminAPI
import Messages

/// What workers and gateways have said of their work.
struct ClusterFigures: Sendable {
    private struct Source: Sendable {
        var changesets = RunningRate()
        var commits = RunningRate()
        var errors = RunningRate()
        var sessions = 0
        /// Bytes by app; see `GatewayFigures`.
        var unacknowledged: [String: UInt64] = [:]
        /// Nil if the gateway does not tell of them.
        var apps: [String: AppFigures]?
        /// The figures before these, for rates.
        var earlier: (at: UInt64, apps: [String: AppFigures])?
        /// The time of it by the gateway's clock.
        var toldAt: UInt64 = 0
        var isGateway = false
        var heardAt: UInt64 = 0
        var isStaying = true

        func isHeard(at now: UInt64) -> Bool { isStaying && ClusterView.isThere(heardAt: heardAt, now: now) }
    }

    /// What has happened since the sums before, and how many sessions there are.
    struct Sums: Sendable, Equatable {
        var changesets: UInt64 = 0
        var commits: UInt64 = 0
        var errors: UInt64 = 0
        var sessions = 0
    }

    /// Workers and gateways that are remembered; the one that was silent for longest goes first.
    static let maxSources = 2_000

    private var sources: [String: Source] = [:]

    mutating func heard(_ message: HeartbeatMessage, at now: UInt64) {
        guard let totals = message.totals else { return }
        note("worker \(message.worker)", at: now) { source in
            source.changesets.heard(totals.changesets)
            source.commits.heard(totals.commits)
            source.errors.heard(totals.errors)
            source.isStaying = message.isStaying
        }
    }

    mutating func heard(_ message: GatewayFigures, at now: UInt64) {
        note("gateway \(message.gateway)", at: now) { source in
            source.isGateway = true
            source.errors.heard(message.errors)
            source.sessions = max(0, message.sessions)
            source.unacknowledged = message.unacknowledged ?? [:]
            source.earlier = source.apps.map { (at: source.toldAt, apps: $0) }
            source.apps = message.apps
            source.toldAt = message.at
            source.isStaying = message.isStaying
        }
    }

    private mutating func note(_ name: String, at now: UInt64, _ change: (inout Source) -> Void) {
        if sources[name] == nil, sources.count >= Self.maxSources,
            let oldest = sources.min(by: { $0.value.heardAt < $1.value.heardAt })
        {
            sources[oldest.key] = nil
        }
        change(&sources[name, default: Source()])
        sources[name]?.heardAt = now
    }

    /// How many gateways were heard within a worker's `silence`.
    func gateways(at now: UInt64) -> Int { sources.values.count { $0.isGateway && $0.isHeard(at: now) } }

    /// Bytes of an app's changesets that gateways have taken and no owner has acknowledged.
    func unacknowledgedBytes(of app: String, at now: UInt64) -> UInt64 {
        sources.values.reduce(0) {
            $1.isHeard(at: now) ? $0.addingReportingOverflow($1.unacknowledged[app] ?? 0).partialValue : $0
        }
    }

    /// An app's traffic: the sums of what the gateways told last, and rates since what they told before; nil if one of them does
    /// not tell of it.
    func traffic(of app: String, at now: UInt64) -> AppTrafficDocument? {
        var traffic = AppTrafficDocument()
        for source in sources.values where source.isGateway && source.isHeard(at: now) {
            guard let apps = source.apps else { return nil }
            guard let figures = apps[app] else {
                // A gateway that tells of fewer than it may has nothing to tell of the others.
                guard apps.count < GatewayFigures.mostApps else { return nil }
                continue
            }
            traffic.sessions += max(0, figures.sessions)
            guard let earlier = source.earlier, earlier.at < source.toldAt else { continue }
            let before = earlier.apps[app] ?? AppFigures()
            let seconds = Double(source.toldAt - earlier.at) / 1_000
            func rate(_ total: KeyPath<AppFigures, UInt64>) -> Double {
                // A gateway that has started again counts from 0.
                let (now, then) = (figures[keyPath: total], before[keyPath: total])
                return Double(now >= then ? now - then : now) / seconds
            }
            traffic.changesetsPerSecond += rate(\.changesets)
            traffic.uploadBytesPerSecond += rate(\.uploadBytes)
            traffic.downloadBytesPerSecond += rate(\.downloadBytes)
        }
        return traffic
    }

    /// What has happened since the last call; sources that have long been silent are forgotten.
    mutating func take(at now: UInt64) -> Sums {
        var sums = Sums()
        for (name, var source) in sources {
            sums.changesets &+= source.changesets.take()
            sums.commits &+= source.commits.take()
            sums.errors &+= source.errors.take()
            if source.isHeard(at: now) { sums.sessions += source.sessions }
            sources[name] = now > source.heardAt && now - source.heardAt > ClusterView.memory ? nil : source
        }
        return sums
    }
}
