import Changesets
import Messages
import Query
import SeededRandom
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// One random schedule over a flexible realm: three clients, a gateway between them and the realm's owner, and what befalls them.
final class FlexibleSimulation {
    private struct Peer {
        var client: ViewingClient
        var query: Set<Int64>
        var rights: Rights
        var version: UInt64 = 1
        /// The set whose data was on its way when the connection was lost.
        var asked: Set<Int64>?
        /// How much of what it was sent has been looked at.
        var looked = 0
    }

    private struct Rights {
        var reads: Set<Int64>
        var writes: Set<Int64>
        var hidesA = false
        /// Items with a greater `a` are hidden. Nothing else looks at this property.
        var maxA: Int64?
        /// Roles look at nothing.
        var isOpen = false
        var readable: Set<Int64> { reads.union(writes) }

        func reads(_ item: FlexibleItems.Item) -> Bool {
            readable.contains(item.owner) && item.a <= maxA ?? .max
        }
        var roles: String {
            get throws {
                try isOpen
                    ? FlexibleItems.openRoles()
                    : FlexibleItems.roles(reads: reads, writes: writes, hidesA: hidesA, maxA: maxA)
            }
        }
    }

    private static let sets: [Set<Int64>] = [[0], [1], [0, 1], [1, 2], [0, 2], []]
    private static let rights = [
        Rights(reads: [0, 1, 2], writes: [0, 1, 2]), Rights(reads: [0, 1, 2], writes: [0, 1]),
        Rights(reads: [0, 1], writes: [0, 1]), Rights(reads: [1], writes: [2]), Rights(reads: [0, 1, 2], writes: []),
        Rights(reads: [0, 1, 2], writes: [0, 1, 2], hidesA: true),
        Rights(reads: [0, 1, 2], writes: [0, 1, 2], maxA: 4), Rights(reads: [0, 1], writes: [1], maxA: 6),
    ]

    private let seed: UInt64
    private var random: SeededGenerator
    private var limits = WorkerLimits()
    private let takesTurns: Bool
    private var harness: OwnerHarness
    private var gateway = ViewingGateway()
    private var peers: [Peer] = []
    private var session: UInt64 = 0
    private var time: UInt64 = 100
    /// Notices that served clients without a page.
    var used: Int { gateway.used }

    /// A realm with its clients, each with a set in force.
    init(seed: UInt64) async throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        if seed.isMultiple(of: 3) {
            limits.maxIndexBytes = 0
            limits.maxRecentHistoryBytes = 0
            limits.maxReciprocalBytes = 0
            limits.maxObjectsPerRealm = 1
        }
        // Clients are soon far behind.
        if seed % 4 == 1 { limits.maxViewArrears = Int.random(in: 0...2, using: &random) * 100 }
        limits.indexStepBytes = seed.isMultiple(of: 2) ? 1 : 1 << 10
        // Pages that end after an object or two, and views that are told of in pages alone.
        if seed % 3 == 2 { limits.evaluation.stepsPerPage = Int.random(in: 0...400, using: &random) }
        if seed % 6 == 5 { limits.evaluation.stepsPerRequest = 4_000 }
        // What nobody needs any more of the history goes soon.
        if seed % 5 == 3 { limits.compaction = OwnerHarness.eager.compaction }
        // Before images have only what versions change, or next to nothing.
        if seed % 7 > 3 { limits.images.smallObject = 0 }
        if seed % 7 == 4 { limits.images.smallRuled = 0 }
        if seed % 7 == 6 { (limits.images.smallValue, limits.images.maxValue) = (0, 0) }
        // Every merge, or every other, goes on beside the slice.
        takesTurns = seed % 10 < 2
        if takesTurns {
            limits.mergeStepsInSlice = seed % 10 == 0 ? 0 : 400
            // So are sets read, and objects tried, or in many turns.
            limits.evaluation.bytesReadInSlice = Int.random(in: 0...1, using: &random) * 60
            limits.evaluation.stepsPerTrialInSlice = Int.random(in: 0...40, using: &random)
            limits.evaluation.stepsInSlice = Int.random(in: 0...200, using: &random)
            limits.evaluation.stepsRemembered = 0
        }
        harness = try await OwnerHarness.make(
            limits: limits, realm: RealmName(flexible: OwnerHarness.app), takesTurns: takesTurns)
        for index in 0..<3 { try await join(index) }
    }

    private func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private func join(_ index: Int) async throws {
        let rights = somebodysRights()
        let query = Self.sets[pick(0...Self.sets.count - 1)]
        peers.append(try await newcomer(index, rights, query, makesSchema: index == 0))
    }

    /// Where images lack what is not small roles may not look at it: what cannot be told of them costs a client its copy.
    private func somebodysRights() -> Rights {
        let rights = Self.rights[pick(0...Self.rights.count - 1)]
        return limits.images.maxValue > 0 ? rights : Rights(reads: [0, 1, 2], writes: [0, 1, 2], isOpen: true)
    }

    /// A client with a new client file and its first set.
    private func newcomer(
        _ index: Int, _ rights: Rights, _ query: Set<Int64>, makesSchema: Bool = false
    ) async throws -> Peer {
        session += 1
        var client = try await ViewingClient.join(
            harness, session: session, user: user(index), roles: try rights.roles)
        if makesSchema {
            try client.make(FlexibleItems.schema(), at: 1)
            try await client.upload(to: harness)
        }
        gateway.begin(session)
        try await gateway.bringUp(&client, from: harness, always: true)
        gateway.hold(client)
        try await expectTrue(client.bootstrap(1, FlexibleItems.query(query), from: harness) == nil)
        gateway.follow(client)
        return Peer(client: client, query: query, rights: rights)
    }

    private func user(_ index: Int) -> String { "u\(index)" }

    // MARK: Steps

    func run() async throws {
        for _ in 0..<pick(5...30) {
            time += 10
            let index = pick(0...2)
            switch pick(0...21) {
            case 0...10: try edit(index)
            case 11...12: try await peers[index].client.upload(to: harness, atMost: pick(1...3))
            case 13: try await gateway.bringUp(&peers[index].client, from: harness, always: true)
            case 14: try gateway.drain(&peers[index].client)
            case 15, 16:
                try await peers[index].client.upload(to: harness)
                try gateway.take(harness.takeNotices())
                try gateway.drain(&peers[index].client)
                try await gateway.bringUp(&peers[index].client, from: harness, always: false)
            case 17: try await reconnect(index)
            case 18: try await changeQuery(index)
            case 20: try await changeRights(index)
            case 21: try await reset(index)
            default: try await changeOwner()
            }
            if seed % 5 == 3, pick(0...2) == 0 { try await harness.tick() }
            // Indexes are filled in steps of one object or so, or not at all.
            if seed % 3 > 0, pick(0...2) == 0 { _ = try await harness.owner.goOnWithJobs(for: .zero) }
            // Some notices are lost on their way.
            let notices = harness.takeNotices()
            if pick(0...19) > 0 { try gateway.take(notices) }
        }
    }

    private func edit(_ index: Int) throws {
        let skew = SyncTimestamp(time + UInt64(pick(0...6)))
        let key = Int64(pick(1...4))
        let has = FlexibleItems.items(peers[index].client.state)[key] != nil
        let hidesA = peers[index].rights.hidesA
        let create = FlexibleItems.create(key, owner: Int64(pick(0...2)), a: hidesA ? nil : Int64(pick(0...9)))
        let change: (inout Changeset) -> Void =
            if !has {
                create
            } else {
                switch pick(0...9) {
                case 0, 1: FlexibleItems.erase(key)
                case 2:
                    // Another item takes the place of one in a single transaction.
                    {
                        FlexibleItems.erase(key)(&$0)
                        create(&$0)
                    }
                case 3...5: FlexibleItems.set(key, "owner", Int64(pick(0...2)))
                default: FlexibleItems.set(key, "a", Int64(pick(0...9)))
                }
            }
        try peers[index].client.write(at: skew, change)
    }

    /// The client is back in another session.
    ///
    /// - Parameter isFragile: whether what it is sent at once, if anything, may be interrupted.
    private func reconnect(_ index: Int, isFragile: Bool = false) async throws {
        // The page after which the connection is lost.
        var lost = isFragile && pick(0...2) == 0 ? pick(1...3) : 0
        gateway.end(peers[index].client.session)
        var isUp = false
        while !isUp {
            session += 1
            let maxBytes = isFragile ? pick(1...200) : 200
            isUp = try await peers[index].client.connect(
                to: harness, session: session, user: user(index), maxBytes: maxBytes
            ) {
                lost -= 1
                return lost != 0
            }
        }
        gateway.begin(peers[index].client.session)
    }

    /// The client asks for other objects, while another client writes.
    private func changeQuery(_ index: Int) async throws {
        let query = peers[index].asked ?? Self.sets[pick(0...Self.sets.count - 1)]
        let version = peers[index].version + (peers[index].asked == nil ? 1 : 0)
        let other = (index + 1) % 3
        let writesBetween = pick(0...2)
        let mayBeLost = pick(0...4) == 0
        let maxBytes = pick(1...60)
        var client = peers[index].client
        gateway.hold(client)
        let before = client.session
        let refusal = try await client.bootstrap(
            version, FlexibleItems.query(query), from: harness, maxBytes: maxBytes
        ) {
            for _ in 0..<writesBetween { try self.edit(other) }
            try await self.peers[other].client.upload(to: self.harness)
            return !mayBeLost
        }
        expectTrue(refusal == nil || refusal == ViewingClient.mustReconnect)
        gateway.moved(client, from: before)
        if refusal != nil { try await client.leave(harness, user: user(index)) }
        try gateway.take(harness.takeNotices())
        peers[index].client = client
        peers[index].version = version
        if client.active.version == version {
            peers[index].query = query
            peers[index].asked = nil
            try gateway.drain(&peers[index].client)
            gateway.follow(peers[index].client)
        } else {
            peers[index].asked = query
            try await reconnect(index)
        }
    }

    /// The app's rules or the user change, while the client is there, which ends its session, or while it is away.
    private func changeRights(_ index: Int) async throws {
        if pick(0...3) == 0 {
            // Nothing is new to the client but what its rights are.
            try await peers[index].client.upload(to: harness)
            try await gateway.bringUp(&peers[index].client, from: harness, always: true)
        }
        try expectReadable(index)
        if pick(0...1) == 0 {
            try await peers[index].client.leave(harness, user: user(index))
        } else {
            try edit(index)
            let other = (index + 1) % 3
            try edit(other)
            try await peers[other].client.upload(to: harness)
        }
        let rights = somebodysRights()
        peers[index].rights = rights
        peers[index].client.roles = try rights.roles
        try await reconnect(index, isFragile: true)
    }

    /// The client has to reset, and begins anew without what it had not uploaded.
    private func reset(_ index: Int) async throws {
        let peer = peers[index]
        let message = ResetMessage(
            realm: harness.realm, clientFile: peer.client.file.ident, campaign: "c-\(session)", reason: nil)
        try await expectEqual(
            harness.send(message).one(FoundReport.self).clientRealms.map(\.clientFile), [peer.client.file.ident])
        gateway.end(peer.client.session)
        peers[index] = try await newcomer(index, peer.rights, peer.query)
    }

    private func changeOwner() async throws {
        try gateway.take(harness.takeNotices())
        harness = try await OwnerHarness.make(
            limits: limits, on: harness.store, realm: harness.realm, takesTurns: takesTurns)
    }

    // MARK: The end

    /// Everybody comes up to date, and has what is in its view.
    func finish() async throws {
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
            let view = items.filter {
                peer.query.contains($0.value.owner) && peer.rights.reads($0.value)
            }.mapValues { peer.rights.hidesA ? .init(owner: $0.owner, a: 0) : $0 }
            expectEqual(FlexibleItems.items(peer.client.state), view, "seed \(seed), client \(index)")
            try expectReadable(index)
        }
    }

    /// Nothing that the client was sent since its rights have changed is beyond these.
    private func expectReadable(_ index: Int) throws {
        let peer = peers[index]
        let owners = try FlexibleItems.owners(in: Array(peer.client.received[peer.looked...]))
        expectTrue(owners.isSubset(of: peer.rights.readable), "seed \(seed), client \(index)")
        let values = try FlexibleItems.values(of: "a", in: Array(peer.client.received[peer.looked...]))
        if peer.rights.hidesA { expectTrue(values.isEmpty, "seed \(seed), client \(index)") }
        if let max = peer.rights.maxA { expectTrue(values.allSatisfy { $0 <= max }, "seed \(seed), client \(index)") }
        peers[index].looked = peer.client.received.count
    }
}
