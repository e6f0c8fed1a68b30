import Changesets
import Foundation
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
        /// The set whose data was on its way when the connection was lost.
        var asked: Set<Int64>?
        var readable: Set<Int64> { reads.union(writes) }
    }

    private static let sets: [Set<Int64>] = [[0], [1], [0, 1], [1, 2], [0, 2], []]
    private static let rights: [(reads: Set<Int64>, writes: Set<Int64>)] = [
        ([0, 1, 2], [0, 1, 2]), ([0, 1, 2], [0, 1]), ([0, 1], [0, 1]), ([1], [2]), ([0, 1, 2], []),
    ]

    /// Ten schedules each.
    private static let seeds =
        ProcessInfo.processInfo.environment["SLUICE_FLEXIBLE_SEEDS"].flatMap { UInt64($0) } ?? 60

    @Test(arguments: 1...seeds) func everyCopyIsItsView(seed: UInt64) async throws {
        var used = 0
        for round in 0..<10 { used += try await simulate(seed: seed * 100 + UInt64(round)) }
        #expect(used > 0)
    }

    /// - Returns: the notices that served clients without a page.
    private func simulate(seed: UInt64) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var limits = WorkerLimits()
        if seed.isMultiple(of: 3) {
            limits.maxIndexBytes = 0
            limits.maxRecentHistoryBytes = 0
            limits.maxReciprocalBytes = 0
            limits.maxObjectsPerRealm = 1
        }
        // Clients are soon far behind.
        if seed % 4 == 1 { limits.maxViewArrears = pick(0...2) * 100 }
        limits.indexStepBytes = seed.isMultiple(of: 2) ? 1 : 1 << 10
        // Every merge, or every other, goes on beside the slice.
        let takesTurns = seed % 10 < 2
        if takesTurns { limits.mergeStepsInSlice = seed % 10 == 0 ? 0 : 400 }
        var harness = try await OwnerHarness.make(
            limits: limits, realm: RealmName(flexible: OwnerHarness.app), takesTurns: takesTurns)
        var session: UInt64 = 0
        var peers: [Peer] = []
        var gateway = ViewingGateway()
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
            gateway.begin(session)
            try await gateway.bringUp(&client, from: harness, always: true)
            let query = Self.sets[pick(0...Self.sets.count - 1)]
            gateway.hold(client)
            #expect(try await client.bootstrap(1, FlexibleItems.query(query), from: harness) == nil)
            gateway.follow(client)
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
            case 13: try await gateway.bringUp(&peers[index].client, from: harness, always: true)
            case 14: try gateway.drain(&peers[index].client)
            case 15, 16:
                try await peers[index].client.upload(to: harness)
                try gateway.take(harness.takeNotices())
                try gateway.drain(&peers[index].client)
                try await gateway.bringUp(&peers[index].client, from: harness, always: false)
            case 17:
                session += 1
                gateway.end(peers[index].client.session)
                try await peers[index].client.connect(to: harness, session: session, user: "u\(index)")
                gateway.begin(session)
            case 18:
                let query = peers[index].asked ?? Self.sets[pick(0...Self.sets.count - 1)]
                let version = peers[index].version + (peers[index].asked == nil ? 1 : 0)
                let other = (index + 1) % 3
                let writesBetween = pick(0...2)
                let mayBeLost = pick(0...4) == 0
                var client = peers[index].client
                gateway.hold(client)
                let before = client.session
                let refusal = try await client.bootstrap(
                    version, FlexibleItems.query(query), from: harness, maxBytes: pick(1...60)
                ) {
                    for _ in 0..<writesBetween { try edit(other) }
                    try await peers[other].client.upload(to: harness)
                    return !mayBeLost
                }
                #expect(refusal == nil || refusal == ViewingClient.mustReconnect)
                gateway.moved(client, from: before)
                if refusal != nil { try await client.leave(harness, user: "u\(index)") }
                try gateway.take(harness.takeNotices())
                peers[index].client = client
                if client.active.version == version {
                    peers[index].query = query
                    peers[index].asked = nil
                    try gateway.drain(&peers[index].client)
                    gateway.follow(peers[index].client)
                } else {
                    peers[index].asked = query
                    session += 1
                    gateway.end(client.session)
                    gateway.begin(session)
                    try await peers[index].client.connect(to: harness, session: session, user: "u\(index)")
                }
                peers[index].version = version
            default:
                try gateway.take(harness.takeNotices())
                harness = try await OwnerHarness.make(
                    limits: limits, on: harness.store, realm: harness.realm, takesTurns: takesTurns)
            }
            // Indexes are filled in steps of one object or so, or not at all.
            if seed % 3 > 0, pick(0...2) == 0 { _ = try await harness.owner.step(for: .zero) }
            // Some notices are lost on their way.
            let notices = harness.takeNotices()
            if pick(0...19) > 0 { try gateway.take(notices) }
        }
        for _ in 0..<4 {
            // As owners do of realms that have come to rest, for gateways that have missed something.
            let record = try await harness.record()
            try gateway.take([
                IntegratedNotice(
                    realm: harness.realm, generation: 1, follows: record.latest.version, latest: record.latest,
                    entries: [], acknowledgements: [])
            ])
            for index in peers.indices {
                try await peers[index].client.upload(to: harness)
                try gateway.take(harness.takeNotices())
                for index in peers.indices { try gateway.drain(&peers[index].client) }
                // Half of the schedules end by notices alone, as far as these tell.
                try await gateway.bringUp(&peers[index].client, from: harness, always: seed.isMultiple(of: 2))
            }
        }
        let items = try await FlexibleItems.items(harness)
        try await FlexibleItems.expectSoundIndexes(harness)
        for (index, peer) in peers.enumerated() {
            let view = items.filter { peer.query.contains($0.value.owner) && peer.readable.contains($0.value.owner) }
            #expect(FlexibleItems.items(peer.client.state) == view, "seed \(seed), client \(index)")
            #expect(
                try FlexibleItems.owners(in: peer.client.received).isSubset(of: peer.readable),
                "seed \(seed), client \(index)")
        }
        return gateway.used
    }
}
