import Changesets
import RealmState

/// What each peer of a scenario holds.
struct PeerStates {
    private var states: [UInt64: RealmState] = [:]
    /// Peers that could not apply a change: what they hold means nothing any more.
    private(set) var broken: Set<UInt64> = []

    mutating func add(_ peer: UInt64) { states[peer, default: RealmState()].compatibility = .stockClients }

    mutating func apply(_ changesets: [Changeset], to peer: UInt64) throws(RealmStateError) {
        guard !broken.contains(peer) else { return }
        do throws(RealmStateError) {
            for changeset in changesets { try states[peer, default: RealmState()].apply(changeset) }
        } catch {
            broken.insert(peer)
            throw error
        }
    }

    var peers: [UInt64] { states.keys.filter { !broken.contains($0) }.sorted() }

    /// Peers by what they hold, in the order of their numbers.
    func groups(of peers: [UInt64]) -> [[UInt64]] {
        var groups: [[UInt8]: [UInt64]] = [:]
        for peer in peers {
            guard let state = states[peer] else { continue }
            groups[StateDump.canonical(of: state), default: []].append(peer)
        }
        return groups.values.sorted { ($0.first ?? 0) < ($1.first ?? 0) }
    }

    func json(of peer: UInt64) throws -> JSON? { try states[peer].map { try JSON(text: StateDump.json(of: $0)) } }
}
