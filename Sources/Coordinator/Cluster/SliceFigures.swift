import AdminAPI
import SyncModel

/// The figures of each slice in the active coordinator's metrics, by the slice's number: how many messages wait in its queue, how many its owner
/// holds, how old the oldest is, and how many come and are dealt with a second. What is not known is left out. Of more slices than a
/// metric may have series, those that are furthest behind.
struct SliceFigures: Sendable, Equatable {
    /// A metric has 256 series at most.
    static let maxSlices = 250

    private(set) var ready: [[String]: Double] = [:]
    private(set) var unacknowledged: [[String]: Double] = [:]
    private(set) var oldestSeconds: [[String]: Double] = [:]
    private(set) var inPerSecond: [[String]: Double] = [:]
    private(set) var outPerSecond: [[String]: Double] = [:]

    init(_ slices: [SliceDocument], at now: UInt64) {
        var chosen = slices[...]
        if slices.count > Self.maxSlices {
            func place(_ slice: SliceDocument) -> (UInt64, Int) { (slice.age(at: now) ?? 0, slice.ready ?? 0) }
            chosen = slices.sorted { place($0) > place($1) }.prefix(Self.maxSlices)
        }
        for slice in chosen {
            let key = [slice.slice.description]
            ready[key] = slice.ready.map(Double.init)
            unacknowledged[key] = slice.unacknowledged.map(Double.init)
            inPerSecond[key] = slice.inPerSecond
            outPerSecond[key] = slice.perSecond
            // An owner that holds nothing is not behind; of a slice without an owner nobody knows.
            oldestSeconds[key] = slice.owner.map { _ in Double(slice.age(at: now) ?? 0) / 1000 }
        }
    }
}
