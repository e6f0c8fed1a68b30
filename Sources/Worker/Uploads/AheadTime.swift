import Storage
import SyncModel

/// What an upload says of its client's clock. In a conflict the newer write stays, and nobody can give a write another time: author and server
/// would merge differently from then on. So what is dated far ahead is counted, and told to the operator. Pure.
struct AheadTime {
    /// A device whose clock is in another time zone is no more than a day ahead.
    static let patience: UInt64 = 86_400_000

    /// Changesets that are dated far ahead.
    let count: Int
    /// The latest time of these; nil if there are none.
    let latest: SyncTimestamp?

    init(_ timestamps: some Sequence<SyncTimestamp>, at now: SyncTimestamp) {
        let (limit, isBeyond) = now.rawValue.addingReportingOverflow(Self.patience)
        let ahead = isBeyond ? [] : timestamps.filter { $0.rawValue > limit }
        count = ahead.count
        latest = ahead.max()
    }
}
