import AdminAPI
import Metrics
import SyncModel
import Synchronization

/// What the active coordinator says of each slice: how many messages wait in its queue, how many its owner holds, and how old the
/// oldest is. Of more slices than a metric may have series, those that are furthest behind.
final class SliceGauges: Sendable {
    /// A metric has 256 series at most.
    static let maxSlices = 250
    /// Queues that are asked with one beat; they take turns.
    static let step = 64

    private struct State {
        var next = 0
        var shown: [SliceNumber: [Gauge]] = [:]
    }

    private let state = Mutex(State())

    /// The slices whose queues are to be asked now.
    func due(of slices: [SliceNumber]) -> [SliceNumber] {
        guard slices.count > Self.step else { return slices }
        return state.withLock { state in
            let first = state.next % slices.count
            state.next = (first + Self.step) % slices.count
            return (0..<Self.step).map { slices[(first + $0) % slices.count] }
        }
    }

    /// - Parameter slices: all of them; none takes all series away, as of a coordinator that is not active any more.
    func show(_ slices: [SliceDocument], at now: UInt64) {
        state.withLock { state in
            var chosen = slices
            if slices.count > Self.maxSlices {
                func place(_ slice: SliceDocument) -> (UInt64, Int) {
                    (slice.age(at: now) ?? 0, slice.ready ?? 0)
                }
                chosen = Array(slices.sorted { place($0) > place($1) }.prefix(Self.maxSlices))
            }
            let wanted = Set(chosen.map(\.slice))
            for (slice, gauges) in state.shown where !wanted.contains(slice) {
                for gauge in gauges { gauge.destroy() }
                state.shown[slice] = nil
            }
            for slice in chosen {
                let gauges = state.shown[slice.slice] ?? Self.make(slice.slice)
                state.shown[slice.slice] = gauges
                gauges[0].record(slice.ready ?? 0)
                gauges[1].record(slice.unacknowledged ?? 0)
                gauges[2].record(Double(slice.age(at: now) ?? 0) / 1000)
            }
        }
    }

    private static func make(_ slice: SliceNumber) -> [Gauge] {
        ["ready", "unacknowledged", "oldest_seconds"].map {
            Gauge(label: "sluice.coordinator.slice.\($0)", dimensions: [("slice", slice.description)])
        }
    }
}
