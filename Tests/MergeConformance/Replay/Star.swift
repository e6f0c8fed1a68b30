import Changesets
import Merge

/// The histories of a recorded scenario's peers, as the merge needs them (docs/merge.md, "Integration").
struct Star {
    struct Entry {
        var version: UInt64
        var timestamp: UInt64
        var origin: UInt64
        /// The peer that it was received from; nil if made here.
        var from: UInt64?
        var changeset: Changeset
    }

    private struct Link: Hashable {
        var peer: UInt64
        var remote: UInt64
    }

    private(set) var histories: [UInt64: [Entry]] = [:]
    private var reciprocals: [Link: [UInt64: Changeset]] = [:]
    /// The last version of the remote that the peer has seen.
    private var seen: [Link: UInt64] = [:]

    func currentVersion(of peer: UInt64) -> UInt64 { histories[peer]?.last?.version ?? 1 }

    /// What the incoming changesets may have to meet: not empty, not from where they come from, and after their base.
    func window(of peer: UInt64, for remote: UInt64, after base: UInt64) -> [LocalChangeset] {
        let stored = reciprocals[Link(peer: peer, remote: remote)] ?? [:]
        let history = histories[peer] ?? []
        let start = history.reversed().prefix { $0.version > base }.count
        return history.suffix(start).filter { $0.from != remote && !$0.changeset.isEmpty }.map { entry in
            LocalChangeset(
                version: entry.version, originTimestamp: entry.timestamp, originFileIdent: entry.origin,
                changeset: stored[entry.version] ?? entry.changeset)
        }
    }

    mutating func append(_ entry: Entry, to peer: UInt64) { histories[peer, default: []].append(entry) }

    mutating func store(_ modified: [TransformResult.Reciprocal], of peer: UInt64, for remote: UInt64) {
        for reciprocal in modified {
            reciprocals[Link(peer: peer, remote: remote), default: [:]][reciprocal.version] = reciprocal.changeset
        }
    }

    mutating func note(_ peer: UInt64, saw version: UInt64, of remote: UInt64) {
        seen[Link(peer: peer, remote: remote)] = version
    }

    /// The server and those clients of which it has everything, and that have everything of it.
    func synchronizedPeers(server: UInt64) -> [UInt64] {
        let peers = histories.keys.sorted()
        let clients = peers.filter { $0 != server }
        let isServerComplete = clients.allSatisfy { client in
            let last = histories[client]?.last { $0.from == nil && !$0.changeset.isEmpty }?.version ?? 0
            return seen[Link(peer: server, remote: client)] ?? 0 >= last
        }
        guard isServerComplete else { return [] }
        return peers.filter { peer in
            let last = histories[server]?.last { $0.from != peer && !$0.changeset.isEmpty }?.version ?? 0
            return peer == server || seen[Link(peer: peer, remote: server)] ?? 0 >= last
        }
    }
}
