/// How far the clocks of workers and gateways are from this coordinator's, by what their heartbeats say: leases of slices compare
/// the clocks of workers, and tokens end by those of gateways.
struct ClockOffsets: Sendable, Equatable {
    private struct Clock: Sendable, Equatable {
        /// The offset nearest to 0 in this window and in the one before, in milliseconds: what is said takes a while to arrive,
        /// and the one that took least is nearest to the truth.
        var nearest: Int64
        var before: Int64?
        var since: UInt64
        var heardAt: UInt64
    }

    /// Milliseconds of one window.
    static let window: UInt64 = 30_000
    /// Processes that are remembered, and those that are told of: a metric has 256 series at most.
    static let maxProcesses = 2_000
    static let maxShown = 250

    private var clocks: [String: Clock] = [:]

    /// - Parameters:
    ///   - time: what the process's clock says, in milliseconds of Unix time.
    ///   - isStaying: false of a process that says so for the last time.
    mutating func heard(_ process: String, saying time: UInt64, isStaying: Bool, at now: UInt64) {
        guard isStaying else { return clocks[process] = nil }
        let offset = time >= now ? Int64(clamping: time - now) : -Int64(clamping: now - time)
        guard var clock = clocks[process] else {
            if clocks.count >= Self.maxProcesses,
                let oldest = clocks.min(by: { $0.value.heardAt < $1.value.heardAt })
            {
                clocks[oldest.key] = nil
            }
            clocks[process] = Clock(nearest: offset, since: now, heardAt: now)
            return
        }
        if now < clock.since || now - clock.since >= Self.window {
            (clock.before, clock.nearest, clock.since) = (clock.nearest, offset, now)
        } else if offset.magnitude < clock.nearest.magnitude {
            clock.nearest = offset
        }
        clock.heardAt = now
        clocks[process] = clock
    }

    /// The offsets of the processes that are there, in seconds, above 0 where a clock is ahead; of too many those that are furthest off.
    func seconds(at now: UInt64) -> [[String]: Double] {
        let there = clocks.filter { ClusterView.isThere(heardAt: $0.value.heardAt, now: now) }.mapValues { clock in
            guard let before = clock.before, before.magnitude < clock.nearest.magnitude else { return clock.nearest }
            return before
        }
        let furthest =
            there.count > Self.maxShown
            ? Array(there.sorted { $0.value.magnitude > $1.value.magnitude }.prefix(Self.maxShown)) : Array(there)
        return Dictionary(uniqueKeysWithValues: furthest.map { ([$0.key], Double($0.value) / 1000) })
    }
}
