import AdminAPI
import SyncModel

/// The last hour and day as this coordinator has seen them, in memory: of the hour a point of the cluster every 10 s, one of each slice
/// every 30 s, and the changes of owners; of the day a point of the cluster every 5 min. At most 360 and 288 points of 56 bytes, and of
/// each slice 120 points of 20 bytes and 50 changes.
struct ClusterHistory: Sendable {
    static let step: UInt64 = 10_000
    static let points = 360
    static let dayStep: UInt64 = 300_000
    static let dayPoints = 288
    static let sliceStep: UInt64 = 30_000
    static let slicePoints = 120
    static let ownings = 50

    private struct Strip: Sendable {
        var points: [SlicePoint] = []
        var owners: [SlicePictureDocument.Owning] = []
        /// The last that was seen, for the rate of what comes.
        var waiting: (count: Int, at: UInt64)?
        var inPerSecond: Double?
    }

    private struct SlicePoint: Sendable {
        var ready: Int32
        var unacknowledged: Int32
        var oldest: Float
        var inPerSecond: Float
        var outPerSecond: Float
    }

    private(set) var points: [HistoryPoint] = []
    /// The last day's points: the mean of rates, the most of all else.
    private(set) var day: [HistoryPoint] = []
    /// Points that the next one of the day is made of: at most `dayStep` divided by `step`, and a few.
    private var pending: [HistoryPoint] = []
    private var sliceTimes: [UInt64] = []
    private var strips: [SliceNumber: Strip] = [:]

    /// Whether it is time for another point.
    func isDue(at now: UInt64) -> Bool {
        guard let last = points.last?.at else { return true }
        return now < last || now - last >= Self.step
    }

    /// - Parameters:
    ///   - sums: what has happened since the point before.
    ///   - slices: all of them, as they stand.
    mutating func add(_ sums: ClusterFigures.Sums, _ slices: [SliceDocument], at now: UInt64) {
        let seconds = points.last.map { now > $0.at ? Double(now - $0.at) / 1000 : 0 } ?? 0
        func rate(_ count: UInt64) -> Double { seconds > 0 ? (Double(count) / seconds * 100).rounded() / 100 : 0 }
        points.append(
            HistoryPoint(
                at: now, changesets: rate(sums.changesets), commits: rate(sums.commits), errors: rate(sums.errors),
                sessions: sums.sessions, waiting: slices.reduce(0) { $0 + $1.waiting },
                oldest: Double(slices.compactMap { $0.age(at: now) }.max() ?? 0) / 1000))
        if points.count > Self.points { points.removeFirst(points.count - Self.points) }
        if let point = points.last { addToDay(point) }
        guard sliceTimes.last.map({ now < $0 || now - $0 >= Self.sliceStep }) ?? true else { return }
        sliceTimes.append(now)
        if sliceTimes.count > Self.slicePoints { sliceTimes.removeFirst() }
        for slice in slices {
            strips[slice.slice, default: Strip()].points.append(
                SlicePoint(
                    ready: Int32(clamping: slice.ready ?? 0),
                    unacknowledged: Int32(clamping: slice.unacknowledged ?? 0),
                    oldest: Float(slice.age(at: now) ?? 0) / 1000, inPerSecond: Float(slice.inPerSecond ?? 0),
                    outPerSecond: Float(slice.perSecond ?? 0)))
            let surplus = (strips[slice.slice]?.points.count ?? 0) - Self.slicePoints
            if surplus > 0 { strips[slice.slice]?.points.removeFirst(surplus) }
        }
    }

    private mutating func addToDay(_ point: HistoryPoint) {
        // A clock that is put back begins the day anew.
        if let last = pending.last ?? day.last, point.at < last.at { (day, pending) = ([], []) }
        pending.append(point)
        guard let first = pending.first, point.at - first.at + Self.step >= Self.dayStep else { return }
        func mean(_ key: KeyPath<HistoryPoint, Double>) -> Double {
            (pending.reduce(0) { $0 + $1[keyPath: key] } / Double(pending.count) * 100).rounded() / 100
        }
        day.append(
            HistoryPoint(
                at: point.at, changesets: mean(\.changesets), commits: mean(\.commits), errors: mean(\.errors),
                sessions: pending.map(\.sessions).max() ?? 0, waiting: pending.map(\.waiting).max() ?? 0,
                oldest: pending.map(\.oldest).max() ?? 0))
        if day.count > Self.dayPoints { day.removeFirst(day.count - Self.dayPoints) }
        pending = []
    }

    /// Notes changes of owners, and how fast messages come: what was dealt with and what more waits than before.
    mutating func look(at slices: [SliceDocument], now: UInt64) {
        for slice in slices {
            var strip = strips[slice.slice] ?? Strip()
            if strip.owners.first?.owner != slice.owner || strip.owners.first?.epoch != slice.epoch {
                strip.owners.insert(.init(at: now, owner: slice.owner, epoch: slice.epoch), at: 0)
                if strip.owners.count > Self.ownings { strip.owners.removeLast() }
            }
            if let last = strip.waiting, now > last.at, now - last.at >= 1000 {
                let grown = Double(slice.waiting - last.count) / (Double(now - last.at) / 1000)
                strip.inPerSecond = max(0, (slice.perSecond ?? 0) + grown)
                strip.waiting = (slice.waiting, now)
            } else if strip.waiting == nil || now < (strip.waiting?.at ?? 0) {
                strip.waiting = (slice.waiting, now)
            }
            strips[slice.slice] = strip
        }
    }

    func inPerSecond(of slice: SliceNumber) -> Double? { strips[slice]?.inPerSecond }
    func owners(of slice: SliceNumber) -> [SlicePictureDocument.Owning] { strips[slice]?.owners ?? [] }

    /// Messages waiting in each slice, the most of each two points, the newest last.
    func strips(of count: SliceCount) -> [[Int]] {
        count.all.map { slice in
            let waiting = (strips[slice]?.points ?? []).map { Int($0.ready) + Int($0.unacknowledged) }
            let odd = waiting.count % 2
            return waiting.prefix(odd)
                + stride(from: odd, to: waiting.count, by: 2).map { max(waiting[$0], waiting[$0 + 1]) }
        }
    }

    func points(of slice: SliceNumber) -> [SlicePictureDocument.Point] {
        guard let points = strips[slice]?.points else { return [] }
        // A slice that came later has fewer points than there are times.
        return zip(sliceTimes.suffix(points.count), points).map { at, point in
            SlicePictureDocument.Point(
                at: at, ready: Int(point.ready), unacknowledged: Int(point.unacknowledged),
                oldest: Double(point.oldest),
                inPerSecond: Double(point.inPerSecond), outPerSecond: Double(point.outPerSecond))
        }
    }
}

extension SliceDocument {
    /// Messages in the queue and with the owner, as far as that is known.
    var waiting: Int { (ready ?? 0) + (unacknowledged ?? 0) }

    /// Milliseconds since the oldest message that the owner holds was published; nil if it holds none.
    func age(at now: UInt64) -> UInt64? { oldestAt.map { now > $0 ? now - $0 : 0 } }
}
