import SyncModel

/// The debts of the realms that have written most of a commit to the others, where the disk was slow.
///
/// Bytes alone say little of that: what is nothing to one disk holds up all of a slice for seconds on another. So a realm owes for the part
/// of the commit's time that its bytes were of the commit's, but for no more than a slow disk takes for these bytes: where something else
/// keeps the disk busy, a realm that has written little is not the one to wait.
struct CommitToll {
    /// A realm that has written less in a commit owes nothing beside what its bytes count themselves.
    static let leastBytes = 256 << 10
    /// The rate of the slowest disk that is reckoned with: 1 MB a second.
    private static let bytesPerMillisecond = 1_000
    /// How much longer than it was held up the slice is left to the others.
    static let restsPerTime: UInt64 = 8

    private var written: [(realm: RealmName, bytes: Int)] = []

    mutating func wrote(_ bytes: Int, for realm: RealmName) { written.append((realm, bytes)) }

    /// - Parameter time: how long the commit has taken.
    /// - Returns: for how long the slice is the others', in milliseconds, for each realm that owes them any.
    func owed(after time: Duration) -> [(realm: RealmName, milliseconds: UInt64)] {
        let total = written.reduce(0) { $0 + $1.bytes }
        let (seconds, attoseconds) = time.components
        let milliseconds = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
        return written.compactMap { realm, bytes in
            guard bytes >= Self.leastBytes else { return nil }
            let share = milliseconds * Double(bytes) / Double(total)
            let held = min(share, Double(bytes / Self.bytesPerMillisecond))
            return (realm, UInt64(held) * Self.restsPerTime)
        }
    }
}
