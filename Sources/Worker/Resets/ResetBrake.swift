import Storage

/// Decides whether one app's clients in a slice may be asked to reset without anybody having terminated sync. Pure.
///
/// One client that has lost its memory is that client's affair. Many at once mean that the slice is not what it was: a store that
/// was put back, a copy that is empty. A reset then costs every one of them what the server has forgotten, and nobody can take
/// it back; so beyond a share of the app's client files the slice holds them all and asks its operator.
struct ResetBrake {
    enum Verdict: Equatable {
        case goOn
        /// Everybody waits; `isNew` for the first time.
        case hold(ResetHoldRecord, isNew: Bool)
    }

    /// Milliseconds for which a reset counts.
    static let window: UInt64 = 60_000
    /// Milliseconds for which a count of client files is good enough.
    static let recount: UInt64 = 10_000

    private(set) var record: ResetHoldRecord
    /// Client files that were asked to reset, by the uptime at which they were.
    private var asked: [ClientFileKey: UInt64] = [:]
    private var clientFiles: (count: Int, at: UInt64)?

    init(_ record: ResetHoldRecord) { self.record = record }

    /// Whether `verdict` needs to know how many client files there are.
    func needsCount(limits: WorkerLimits, at uptime: UInt64, now: UInt64) -> Bool {
        guard record.heldSince == nil, !isAllowed(at: now) else { return false }
        guard asked.count >= limits.minHeldResets else { return false }
        return clientFiles.map { $0.at &+ Self.recount <= uptime } ?? true
    }

    /// - Parameter live: how many client files are live now. Those that were asked are live no more.
    mutating func count(_ live: Int, at uptime: UInt64) { clientFiles = (live + asked.count, uptime) }

    private func isAllowed(at now: UInt64) -> Bool { record.allowedUntil.map { now < $0 } ?? false }

    /// - Parameters:
    ///   - uptime: by which resets are counted.
    ///   - now: the time of day, by which an operator's word holds.
    mutating func verdict(
        on key: ClientFileKey, limits: WorkerLimits, at uptime: UInt64, now: UInt64
    ) -> Verdict {
        if isAllowed(at: now) { return .goOn }
        if record.heldSince != nil { return .hold(record, isNew: false) }
        asked = asked.filter { $0.value &+ Self.window > uptime }
        asked[key] = uptime
        let all = max(clientFiles?.count ?? 0, asked.count)
        guard asked.count > limits.minHeldResets, asked.count * 100 > all * limits.resetSharePercent else {
            return .goOn
        }
        record = ResetHoldRecord(app: record.app, heldSince: now, asked: asked.count, clientFiles: all)
        asked = [:]
        return .hold(record, isNew: true)
    }

    /// An operator has looked.
    mutating func allow(until: UInt64) {
        record.heldSince = nil
        record.allowedUntil = until
        asked = [:]
    }
}
