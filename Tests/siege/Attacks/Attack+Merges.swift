import SeededRandom
import SyncModel

/// Attacks on the time that merging takes.
extension Attack {
    static let merges = [
        Attack("list-merges", "two clients append 20,000 to 200,000 items to a list, and move one") { stranger in
            await stranger.lanes(1) { lane in
                let count = [20_000, 50_000, 100_000, 200_000][lane.random.below(4)]
                try await collide(
                    stranger, &lane, first: Writes.list(1, size: 4),
                    [Writes.appendsAndMove(1, count: count, to: 4)])
            }
        },
        Attack("alternating-moves", "two clients move the items of a short list 20,000 times") { stranger in
            await stranger.lanes(1) { lane in
                try await collide(
                    stranger, &lane, first: Writes.list(1, size: 4),
                    [Writes.alternatingMoves(1, count: 20_000 + lane.random.below(2), size: 4)])
            }
        },
        Attack("create-or-update", "a client writes 1,000 objects 16,000 times on top of 160,000 unseen writes") {
            stranger in
            await stranger.lanes(1) { lane in
                let remote = (0..<160_000).map { Writes.put($0 % 1_000, count: $0) }
                try await collide(
                    stranger, &lane, first: Writes.schema(), remote, then: Array(remote.prefix(16_000)))
            }
        },
    ]

    /// Has two client realms of a new partition change the same without having seen the other's changes.
    private static func collide(
        _ stranger: Stranger, _ lane: inout Stranger.Lane, first: [UInt8], _ changes: [[UInt8]],
        then others: [[UInt8]]? = nil
    ) async throws {
        let partition = "merge-\(lane.number)-\(lane.round)"
        let account = try await stranger.account(lane.number)
        let lines = [
            try await stranger.line(lane.number, of: account), try await stranger.line(lane.number, of: account),
        ]
        // What one client has seen, it may say it has not.
        let one = try await lines[0].open(partition)
        try await lines[0].upload([Writes.schema(), first], one)
        guard await lines[0].acknowledged(one) else { return }
        let base = await lines[0].sessions[one]?.progress.latest.version ?? 0
        let two = try await lines[1].open(partition)
        for (line, session, changes) in [(lines[0], one, changes), (lines[1], two, others ?? changes)] {
            var rest = changes[...]
            while !rest.isEmpty, await !line.isOver(session) {
                // As clients pack them, but larger.
                let count = changes.count == 1 ? 1 : 4_000
                try await line.upload(Array(rest.prefix(count)), session, seen: base)
                rest = rest.dropFirst(count)
            }
            _ = await line.acknowledged(session, within: .seconds(60))
        }
        for line in lines { await line.close() }
    }
}
