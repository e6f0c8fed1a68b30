import SyncModel

/// Realms whose last change has been followed by none for a while. Notices get lost (a gateway's queue at its bound drops the
/// oldest), and a session misses one only when it hears of a later version: of the last one it would hear nothing.
struct QuietRealms {
    struct Position: Equatable {
        var generation: UInt64
        var latest: SaltedServerVersion
    }

    /// The realms of a slice that are remembered at most; what changes beyond that between two ticks is not told again.
    static let maxRealms = 10_000
    private var changed: [RealmName: Position] = [:]
    private var resting: [RealmName: Position] = [:]
    /// Handed out, and not yet known to leave.
    private var telling: [RealmName: Position] = [:]

    mutating func changed(_ name: RealmName, _ position: Position) {
        guard changed.count < Self.maxRealms || changed[name] != nil else { return }
        changed[name] = position
        resting[name] = nil
        telling[name] = nil
    }

    /// Notes that what was handed out is on its way.
    mutating func told() { telling = [:] }

    /// Notes that what was handed out has been dropped: it is for the next tick.
    mutating func dropped() {
        resting.merge(telling) { newer, _ in newer }
        telling = [:]
    }

    /// - Returns: those that have changed between the last two ticks and not since.
    mutating func tick() -> [(name: RealmName, position: Position)] {
        telling.merge(resting) { _, newer in newer }
        resting = changed
        changed = [:]
        return telling.map { (name: $0.key, position: $0.value) }
    }
}
