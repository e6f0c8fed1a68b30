import AdminAPI
import Messages
import SyncModel

/// What the workers' heartbeats have said.
struct ClusterView: Sendable {
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

    func workers() -> [WorkerDocument] {
        heard.values.map { message, at in
            WorkerDocument(
                worker: message.worker, owns: message.owns.sorted(), standsBy: message.standsBy.sorted(),
                load: message.load.isFinite ? message.load : 0, lastHeardAt: at, isStaying: message.isStaying)
        }.sorted { $0.worker < $1.worker }
    }

    /// What the slice is busy with, as its owner says; nil if with nothing, or if it has none.
    func activity(of slice: SliceNumber, at now: UInt64) -> SliceActivity? {
        let owner = heard.values.filter { message, at in
            message.isStaying && (now < at || now - at < Self.silence) && message.owns.contains(slice)
        }.max { ($0.message.epochs[slice.description] ?? 0) < ($1.message.epochs[slice.description] ?? 0) }
        return owner?.message.activity?.first { $0.slice == slice }
    }

    func slices(_ count: SliceCount, at now: UInt64) -> [SliceDocument] {
        let alive = workers().filter { $0.isStaying && (now < $0.lastHeardAt || now - $0.lastHeardAt < Self.silence) }
        var result = count.all.map(SliceDocument.init)
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
                let held = heard[worker.worker]?.message.heldResets?.filter { $0.slice == slice } ?? []
                result[slice.value].heldResets =
                    held.isEmpty
                    ? nil
                    : held.map {
                        HeldResetsDocument(
                            app: $0.app, asked: $0.asked, clientFiles: $0.clientFiles, since: $0.since)
                    }
                result[slice.value].load = worker.load
                result[slice.value].lastHeardAt = worker.lastHeardAt
            }
        }
        return result
    }
}
