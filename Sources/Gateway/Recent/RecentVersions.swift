import Messages
import SyncModel
import Synchronization

/// Where a session of a partition stands.
struct RecentPosition: Sendable {
    var generation: UInt64
    var server: SaltedServerVersion
}

/// The newest versions of the partitions that this gateway's sessions have written to or read in the last moments: a session that has fallen
/// behind catches up from here, without a request to its realm's owner.
///
/// What is held of all realms together is bounded, views included, and of each realm to a quarter of that; a realm of which nothing was
/// heard for `patience` is forgotten.
final class RecentVersions: Sendable {
    /// The time that a realm is kept for, in milliseconds.
    static let patience: UInt64 = 10_000

    private struct Held {
        var tail: RecentTail
        var second: UInt64
    }

    private struct State {
        private(set) var tails: [RealmName: Held] = [:]
        /// The realms by the second in which they were heard of last: what is to go is found without looking at all of them.
        private var seconds: [UInt64: Set<RealmName>] = [:]
        private(set) var bytes = 0

        var oldest: RealmName? { seconds.keys.min().flatMap { seconds[$0]?.first } }

        mutating func insert(_ tail: RecentTail, of realm: RealmName, second: UInt64) {
            tails[realm] = Held(tail: tail, second: second)
            seconds[second, default: []].insert(realm)
            bytes += tail.bytes
        }

        @discardableResult
        mutating func remove(_ realm: RealmName) -> RecentTail? {
            guard let held = tails.removeValue(forKey: realm) else { return nil }
            seconds[held.second]?.remove(realm)
            if seconds[held.second]?.isEmpty == true { seconds[held.second] = nil }
            bytes -= held.tail.bytes
            return held.tail
        }

        mutating func stretch(after version: ServerVersion, of realm: RealmName) -> RecentStretch? {
            tails[realm]?.tail.stretch(after: version)
        }

        mutating func removeAll(before second: UInt64) {
            for gone in seconds.keys where gone < second { for realm in seconds[gone] ?? [] { remove(realm) } }
        }
    }

    private let state = Mutex(State())
    /// The bytes of versions that may be held; they take as much again with their views.
    private let limit: Int

    /// - Parameter bytes: the most that is held, with views.
    init(bytes: Int) { limit = bytes / 2 }

    /// The bytes of versions that are held, without views.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Takes in the versions of a notice of a partition.
    ///
    /// - Parameter now: in milliseconds.
    func hear(_ notice: IntegratedNotice, at now: UInt64) {
        guard notice.latest.version > notice.follows else { return }
        state.withLock { state in
            var tail = state.remove(notice.realm)
            if tail?.append(notice) != true { tail = RecentTail(notice) }
            tail?.trim(to: limit / 4)
            // A single version may be larger than all that may be held.
            guard let tail, tail.bytes <= limit / 2 else { return }
            state.insert(tail, of: notice.realm, second: now / 1_000)
            while state.bytes > limit, let oldest = state.oldest { state.remove(oldest) }
        }
    }

    /// The versions that go on where a session stands; nil if they are not at hand, or if there are none.
    func stretch(after position: RecentPosition, of realm: RealmName) -> RecentStretch? {
        state.withLock { state in
            guard state.tails[realm]?.tail.generation == position.generation,
                state.tails[realm]?.tail.salt == position.server.salt
            else { return nil }
            return state.stretch(after: position.server.version, of: realm)
        }
    }

    /// Forgets realms that have been at rest for `patience`, and up to a second longer.
    func sweep(at now: UInt64) {
        guard now >= Self.patience + 1_000 else { return }
        state.withLock { $0.removeAll(before: (now - Self.patience) / 1_000) }
    }
}
