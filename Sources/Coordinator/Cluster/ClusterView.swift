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

    /// Whether a process that was heard last at a time counts as there.
    static func isThere(heardAt: UInt64, now: UInt64) -> Bool { now < heardAt || now - heardAt < silence }

    func workers() -> [WorkerDocument] {
        heard.values.map { message, at in
            WorkerDocument(
                worker: message.worker, owns: message.owns.sorted(), standsBy: message.standsBy.sorted(),
                load: message.load.isFinite ? message.load : 0, lastHeardAt: at, isStaying: message.isStaying)
        }.sorted { $0.worker < $1.worker }
    }

    /// What the slice is busy with, as its owner says; nil if with nothing, or if it has none.
    func activity(of slice: SliceNumber, at now: UInt64) -> SliceActivity? {
        let owner = alive(at: now).filter { $0.message.owns.contains(slice) }
            .max { ($0.message.epochs[slice.description] ?? 0) < ($1.message.epochs[slice.description] ?? 0) }
        return owner?.message.activity?.first { $0.slice == slice }
    }

    private func alive(at now: UInt64) -> [(message: HeartbeatMessage, at: UInt64)] {
        heard.values.filter { $0.message.isStaying && Self.isThere(heardAt: $0.at, now: now) }
    }

    /// The slices that have no owner, and how many have nobody who would take them at once.
    struct Standing: Sendable, Equatable {
        var ownerless: [SliceNumber] = []
        var withoutStandby = 0
    }

    func standing(of count: SliceCount, at now: UInt64) -> Standing {
        var standing = Standing()
        for slice in slices(count, at: now) {
            if slice.owner == nil { standing.ownerless.append(slice.slice) }
            if slice.standBy.isEmpty { standing.withoutStandby += 1 }
        }
        return standing
    }

    func slices(_ count: SliceCount, at now: UInt64) -> [SliceDocument] {
        var result = count.all.map(SliceDocument.init)
        for (message, heardAt) in alive(at: now).sorted(by: { $0.message.worker < $1.message.worker }) {
            for slice in message.standsBy.sorted() where result.indices.contains(slice.value) {
                result[slice.value].standBy.append(message.worker)
            }
            for slice in message.owns.sorted() where result.indices.contains(slice.value) {
                var document = result[slice.value]
                let key = String(slice.value)
                let epoch = message.epochs[key]
                // Two may say so while a slice changes hands: the later epoch is right.
                if document.owner != nil, (document.epoch ?? 0) >= (epoch ?? 0) { continue }
                document.owner = message.worker
                document.epoch = epoch
                document.unacknowledged = message.holds[key]
                let lag = message.lags?[key]
                document.oldestAt = lag?.oldestAt
                document.perSecond = lag.flatMap { $0.perSecond.isFinite ? $0.perSecond : nil }
                let held = message.heldResets?.filter { $0.slice == slice } ?? []
                document.heldResets =
                    held.isEmpty
                    ? nil
                    : held.map { .init(app: $0.app, asked: $0.asked, clientFiles: $0.clientFiles, since: $0.since) }
                document.load = message.load.isFinite ? message.load : 0
                document.lastHeardAt = heardAt
                result[slice.value] = document
            }
        }
        return result
    }
}
