import SyncModel

/// What an honest client syncs.
enum HonestRealm: Sendable, CustomStringConvertible {
    case partition(String)
    /// The objects of a class, by a query that all of them match.
    case flexible

    var mode: SyncMode {
        switch self {
        case .partition: .partition
        case .flexible: .flexible
        }
    }

    var description: String {
        switch self {
        case .partition(let partition): partition
        case .flexible: "flexible"
        }
    }
}
