import Changesets
import Messages
import SeededRandom
import Storage
import SyncModel
import Testing

@testable import Worker

/// Clients with subscriptions and roles of their own write, come and go, ask for other subscriptions while others write, and lose
/// connections in the middle, while owners come and go: in the end each has exactly what is in its view, and was never sent what its
/// role does not let it read.
@Suite(.timeLimit(.minutes(5))) struct FlexibleSimulationTests {
    private struct Peer {
        var client: ViewingClient
        var query: Set<Int64>
        var reads: Set<Int64>
        var writes: Set<Int64>
        var version: UInt64 = 1
        var readable: Set<Int64> { reads.union(writes) }
    }

    private static let sets: [Set<Int64>] = [[0], [1], [0, 1], [1, 2], [0, 2], []]
    private static let rights: [(reads: Set<Int64>, writes: Set<Int64>)] = [
        ([0, 1, 2], [0, 1, 2]), ([0, 1, 2], [0, 1]), ([0, 1], [0, 1]), ([1], [2]), ([0, 1, 2], []),
    ]

    @Test(arguments: UInt64(1)...60) func everyCopyIsItsView(seed: UInt64) async throws {
        for round in 0..<10 { try await simulate(seed: seed * 100 + UInt64(round)) }
    }

    private func simulate(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var limits = WorkerLimits()
        if seed.isMultiple(of: 3) {
            limits.maxIndexBytes = 0
            limits.maxRecentHistoryBytes = 0
            limits.maxReciprocalBytes = 0
            limits.maxObjectsPerRealm = 1
        }
        var harness = try await OwnerHarness.make(
            limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        var session: UInt64 = 0
        var peers: [Peer] = []
        for index in 0..<3 {
            session += 1
            let rights = Self.rights[pick(0...Self.rights.count - 1)]
            var client = try await ViewingClient.join(
                harness, session: session, user: "u\(index)",
                roles: try FlexibleItems.roles(reads: rights.reads, writes: rights.writes))
            if index == 0 {
                try client.make(FlexibleItems.schema(), at: 1)
                try await client.upload(to: harness)
            }
            try await client.download(from: harness)
            let query = Self.sets[pick(0...Self.sets.count - 1)]
            #expect(try await client.bootstrap(1, FlexibleItems.query(query), from: harness) == nil)
            peers.append(Peer(client: client, query: query, reads: rights.reads, writes: rights.writes))
        }
        var time: UInt64 = 100
        func edit(_ index: Int) throws {
            let skew = SyncTimestamp(time + UInt64(pick(0...6)))
            let key = Int64(pick(1...4))
            let has = FlexibleItems.items(peers[index].client.state)[key] != nil
            let change =
                if !has {
                    FlexibleItems.create(key, .init(owner: Int64(pick(0...2)), a: Int64(pick(0...9))))
                } else {
                    switch pick(0...9) {
                    case 0, 1: FlexibleItems.erase(key)
                    case 2...5: FlexibleItems.set(key, "owner", Int64(pick(0...2)))
                    default: FlexibleItems.set(key, "a", Int64(pick(0...9)))
                    }
                }
            try peers[index].client.write(at: skew, change)
        }
        for _ in 0..<pick(5...30) {
            time += 10
            let index = pick(0...2)
            switch pick(0...19) {
            case 0...10: try edit(index)
            case 11...12: try await peers[index].client.upload(to: harness, atMost: pick(1...3))
            case 13...14: try await peers[index].client.download(from: harness)
            case 15, 16:
                try await peers[index].client.upload(to: harness)
                try await peers[index].client.download(from: harness)
            case 17:
                session += 1
                try await peers[index].client.connect(to: harness, session: session, user: "u\(index)")
            case 18:
                let query = Self.sets[pick(0...Self.sets.count - 1)]
                let version = peers[index].version + 1
                let other = (index + 1) % 3
                let writesBetween = pick(0...2)
                let mayBeLost = pick(0...4) == 0
                var client = peers[index].client
                let refusal = try await client.bootstrap(
                    version, FlexibleItems.query(query), from: harness, maxBytes: pick(1...60)
                ) {
                    for _ in 0..<writesBetween { try edit(other) }
                    try await peers[other].client.upload(to: harness)
                    return !mayBeLost
                }
                #expect(refusal == nil)
                peers[index].client = client
                if client.active.version == version {
                    peers[index].query = query
                } else {
                    session += 1
                    try await peers[index].client.connect(to: harness, session: session, user: "u\(index)")
                }
                peers[index].version = version
            default:
                harness = try await OwnerHarness.make(limits: limits, on: harness.store, realm: harness.realm)
            }
        }
        for _ in 0..<4 {
            for index in peers.indices {
                try await peers[index].client.upload(to: harness)
                try await peers[index].client.download(from: harness)
            }
        }
        let items = try await FlexibleItems.items(harness)
        for (index, peer) in peers.enumerated() {
            let view = items.filter { peer.query.contains($0.value.owner) && peer.readable.contains($0.value.owner) }
            #expect(FlexibleItems.items(peer.client.state) == view, "seed \(seed), client \(index)")
            #expect(
                try FlexibleItems.owners(in: peer.client.received).isSubset(of: peer.readable),
                "seed \(seed), client \(index)")
        }
    }
}
