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
        var heardAt: UInt64
    }

    private struct State {
        var tails: [RealmName: Held] = [:]
        var bytes = 0
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
            var held = state.tails.removeValue(forKey: notice.realm)
            state.bytes -= held?.tail.bytes ?? 0
            if held?.tail.append(notice) != true {
                held = RecentTail(notice).map { Held(tail: $0, heardAt: now) }
            }
            guard var held else { return }
            held.heardAt = now
            held.tail.trim(to: limit / 4)
            // A single version may be larger than all that may be held.
            guard held.tail.bytes <= limit / 2 else { return }
            state.bytes += held.tail.bytes
            state.tails[notice.realm] = held
            while state.bytes > limit,
                let oldest = state.tails.min(by: { $0.value.heardAt < $1.value.heardAt })?.key
            {
                state.bytes -= state.tails.removeValue(forKey: oldest)?.tail.bytes ?? 0
            }
        }
    }

    /// The versions that go on where a session stands; nil if they are not at hand, or if there are none.
    func stretch(after position: RecentPosition, of realm: RealmName) -> RecentStretch? {
        state.withLock { state in
            guard state.tails[realm]?.tail.generation == position.generation,
                state.tails[realm]?.tail.salt == position.server.salt
            else { return nil }
            return state.tails[realm]?.tail.stretch(after: position.server.version)
        }
    }

    /// Forgets realms that are at rest.
    func sweep(at now: UInt64) {
        state.withLock { state in
            for (realm, held) in state.tails where now > held.heardAt &+ Self.patience {
                state.bytes -= held.tail.bytes
                state.tails[realm] = nil
            }
        }
    }
}
