import Messages
import SyncModel

/// The workers of the cluster as this one hears them, and what follows for the slices. Pure.
struct Peers {
    /// What a worker is to a slice, by rendezvous hashing over the living workers.
    enum Role: Equatable {
        case first, second, none
    }

    private struct Peer {
        var heartbeat: HeartbeatMessage
        var heardAt: UInt64
    }

    let own: String
    /// A worker that is silent for longer is taken for gone, in milliseconds.
    let patience: UInt64
    private var peers: [String: Peer] = [:]
    private static let maxPeers = 1_000

    init(own: String, patience: UInt64) {
        self.own = own
        self.patience = patience
    }

    mutating func heard(_ heartbeat: HeartbeatMessage, at now: UInt64) {
        guard heartbeat.worker != own else { return }
        peers = peers.filter { $0.value.heardAt &+ patience > now }
        guard heartbeat.isStaying else {
            peers[heartbeat.worker] = nil
            return
        }
        guard peers[heartbeat.worker] != nil || peers.count < Self.maxPeers else { return }
        peers[heartbeat.worker] = Peer(heartbeat: heartbeat, heardAt: now)
    }

    /// Everybody who is there, this worker included.
    func living(at now: UInt64) -> [String] {
        [own] + peers.filter { $0.value.heardAt &+ patience > now }.keys
    }

    func role(in slice: SliceNumber, at now: UInt64) -> Role {
        let ranking = Rendezvous.ranking(of: living(at: now), for: slice)
        if ranking.first == own { return .first }
        return ranking.dropFirst().first == own ? .second : .none
    }

    /// Whether an owner that is not the first choice can let go: somebody better already consumes the slice's queue.
    func canHandOver(_ slice: SliceNumber, at now: UInt64) -> Bool {
        let living = Rendezvous.ranking(of: living(at: now), for: slice)
        let better = living.prefix(2).prefix { $0 != own }
        return better.contains { peers[$0]?.heartbeat.standsBy.contains(slice) == true }
    }
}
