import Foundation
import Messages
import SyncModel
import Synchronization

/// The realms and apps that a slice is busy with, and what its owner has refused since it took the slice: for whoever watches the
/// owner from outside.
final class ActivityTally: Sendable {
    /// The time over which changesets count, in milliseconds: a changeset of a second ago counts as one, a changeset of this long
    /// ago as little more than a third.
    static let span = 300_000.0
    /// Realms, and apps, that are remembered; beyond, the less busy half is forgotten.
    static let most = 200
    /// The number of realms, of apps and of apps with refusals that a heartbeat tells of at most.
    static let told = 5
    /// A realm with a longer partition counts for its app only.
    static let maxPartitionBytes = 200
    /// Slices that a heartbeat tells of: the busiest.
    static let maxSlices = 100

    private struct Scores<Key: Hashable & Sendable>: Sendable {
        private var scores: [Key: (amount: Double, at: UInt64)] = [:]

        private static func amount(_ score: (amount: Double, at: UInt64), at now: UInt64) -> Double {
            score.amount * exp(-Double(now &- min(score.at, now)) / ActivityTally.span)
        }

        mutating func add(_ count: Int, for key: Key, at now: UInt64) {
            let before = scores[key].map { Self.amount($0, at: now) } ?? 0
            scores[key] = (before + Double(count), now)
            guard scores.count > ActivityTally.most else { return }
            let kept = scores.sorted { Self.amount($0.value, at: now) > Self.amount($1.value, at: now) }
            scores = Dictionary(
                uniqueKeysWithValues: kept.prefix(ActivityTally.most / 2).map { ($0.key, $0.value) })
        }

        func busiest(at now: UInt64) -> [(key: Key, changesets: Int)] {
            scores.map { (key: $0.key, changesets: Int(Self.amount($0.value, at: now).rounded())) }
                .filter { $0.changesets > 0 }
                .sorted { ($1.changesets, "\($0.key)") < ($0.changesets, "\($1.key)") }
                .prefix(ActivityTally.told).map(\.self)
        }
    }

    private struct State: Sendable {
        var realms = Scores<RealmName>()
        var apps = Scores<String>()
        var refusals: [String: SliceActivity.Refusals] = [:]
    }

    private let state = Mutex(State())

    /// - Parameter uptime: in milliseconds.
    func integrated(_ changesets: Int, into realm: RealmName, at uptime: UInt64) {
        guard changesets > 0 else { return }
        state.withLock { state in
            state.apps.add(changesets, for: realm.app, at: uptime)
            if realm.partition.utf8.count <= Self.maxPartitionBytes {
                state.realms.add(changesets, for: realm, at: uptime)
            }
        }
    }

    /// An upload whose merge would have gone beyond its budget.
    func refusedMerge(app: String) { refused(app) { $0.merges += 1 } }
    /// Something that goes beyond a quota.
    func refusedByQuota(app: String) { refused(app) { $0.quotas += 1 } }

    private func refused(_ app: String, _ change: (inout SliceActivity.Refusals) -> Void) {
        state.withLock { state in
            guard state.refusals[app] != nil || state.refusals.count < Self.most else { return }
            change(&state.refusals[app, default: SliceActivity.Refusals(app: app)])
        }
    }

    /// - Returns: nil if there is nothing to say.
    func activity(of slice: SliceNumber, at uptime: UInt64) -> SliceActivity? {
        let activity = state.withLock { state in
            SliceActivity(
                slice: slice,
                realms: state.realms.busiest(at: uptime).map { .init(realm: $0.key, changesets: $0.changesets) },
                apps: state.apps.busiest(at: uptime).map { .init(app: $0.key, changesets: $0.changesets) },
                refusals: state.refusals.values
                    .sorted { ($1.merges &+ $1.quotas, $0.app) < ($0.merges &+ $0.quotas, $1.app) }
                    .prefix(Self.told).map(\.self))
        }
        return activity.apps.isEmpty && activity.refusals.isEmpty ? nil : activity
    }
}
