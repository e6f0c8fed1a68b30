import Messages
import SyncModel

/// What the workers' heartbeats have said.
struct ClusterView: Sendable {
    struct Worker: Sendable, Equatable, Encodable {
        var worker: String
        var owns: [SliceNumber]
        var standsBy: [SliceNumber]
        /// Changesets integrated per second.
        var load: Double
        /// Milliseconds of Unix time, by this coordinator's clock.
        var lastHeardAt: UInt64
        /// False once it has said goodbye.
        var isStaying: Bool
    }

    struct Slice: Sendable, Equatable, Encodable {
        var slice: SliceNumber
        /// Nil while no worker says that it owns the slice.
        var owner: String?
        var standBy: [String]
        var epoch: UInt64?
        /// Deliveries that the owner holds unacknowledged.
        var unacknowledged: Int?
        /// When the oldest message that the owner holds was published (milliseconds of Unix time); nil if it holds none.
        var oldestAt: UInt64?
        /// Messages of this slice that the owner deals with per second.
        var perSecond: Double?
        /// Of the owner, over all its slices.
        var load: Double?
        var lastHeardAt: UInt64?
    }

    /// Milliseconds after which a silent worker no longer counts as owner, and after which it is forgotten.
    static let silence: UInt64 = 15_000
    static let memory: UInt64 = 600_000
    static let maxWorkers = 1000

    private var heard: [String: (message: HeartbeatMessage, at: UInt64)] = [:]

    /// - Parameter now: by this process's clock. What the worker's clock says does not count: one that was ahead and is put
    ///   right would not be heard for as long as it had been ahead.
    mutating func heard(_ message: HeartbeatMessage, at now: UInt64) {
        heard[message.worker] = (message, now)
        heard = heard.filter { now < $0.value.at || now - $0.value.at < Self.memory }
        guard heard.count > Self.maxWorkers, let oldest = heard.min(by: { $0.value.at < $1.value.at }) else { return }
        heard[oldest.key] = nil
    }

    func workers() -> [Worker] {
        heard.values.map { message, at in
            Worker(
                worker: message.worker, owns: message.owns.sorted(), standsBy: message.standsBy.sorted(),
                load: message.load.isFinite ? message.load : 0, lastHeardAt: at, isStaying: message.isStaying)
        }.sorted { $0.worker < $1.worker }
    }

    func slices(_ count: SliceCount, at now: UInt64) -> [Slice] {
        let alive = workers().filter { $0.isStaying && (now < $0.lastHeardAt || now - $0.lastHeardAt < Self.silence) }
        var result = count.all.map { Slice(slice: $0, owner: nil, standBy: []) }
        for worker in alive {
            for slice in worker.standsBy where result.indices.contains(slice.value) {
                result[slice.value].standBy.append(worker.worker)
            }
            let epochs = heard[worker.worker]?.message.epochs ?? [:]
            for slice in worker.owns where result.indices.contains(slice.value) {
                let epoch = epochs[String(slice.value)]
                // Two may say so while a slice changes hands: the later epoch is right.
                if result[slice.value].owner != nil, (result[slice.value].epoch ?? 0) >= (epoch ?? 0) { continue }
                result[slice.value].owner = worker.worker
                result[slice.value].epoch = epoch
                result[slice.value].unacknowledged = heard[worker.worker]?.message.holds[String(slice.value)]
                let lag = heard[worker.worker]?.message.lags?[String(slice.value)]
                result[slice.value].oldestAt = lag?.oldestAt
                result[slice.value].perSecond = lag.flatMap { $0.perSecond.isFinite ? $0.perSecond : nil }
                result[slice.value].load = worker.load
                result[slice.value].lastHeardAt = worker.lastHeardAt
            }
        }
        return result
    }
}
