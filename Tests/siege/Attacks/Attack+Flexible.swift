import SeededRandom
import SyncModel
import SyncProtocol

/// Attacks on what evaluating queries and roles, and remembering what flexible clients have, costs.
extension Attack {
    static let flexible = [
        Attack("large-images", "uploads of 1,000 changes to an object with a subscribed text of 14 MB") { stranger in
            await stranger.lanes(1) { lane in
                try await subscribed(stranger, lane, to: ["Thing": "text != 'x'"]) { line, session in
                    try await line.upload([Writes.text(0, bytes: 14_000_000)], session)
                    guard await line.acknowledged(session, within: .seconds(120)) else { return }
                    while !stranger.isOver, await !line.isOver(session) {
                        try await line.upload((0..<1_000).map { Writes.put(0, count: $0) }, session)
                        guard await line.acknowledged(session, within: .seconds(120)) else { return }
                    }
                }
            }
        },
        Attack("text-searches", "queries that look for 120 kB in a text of 2 MB, and LIKE with many stars") {
            stranger in
            await stranger.lanes(2) { lane in
                let searches = [
                    "text CONTAINS '\(String(repeating: "x", count: 120_000))y'",
                    "text LIKE '\(String(repeating: "*x", count: 20_000))*y'",
                    "text CONTAINS[c] '\(String(repeating: "x", count: 120_000))y'",
                    (0..<2_000).map { "text ENDSWITH '\($0)y'" }.joined(separator: " OR "),
                    (0..<200).map { "text CONTAINS '\(String(repeating: "x", count: 500))\($0)'" }.joined(
                        separator: " OR "),
                ]
                let first = lane.random.below(searches.count)
                try await subscribed(stranger, lane, to: ["Thing": "TRUEPREDICATE"]) { line, session in
                    try await line.upload([Writes.text(0, bytes: 2_000_000)], session)
                    guard await line.acknowledged(session) else { return }
                    for number in 0..<searches.count where !stranger.isOver {
                        let search = searches[(first + number) % searches.count]
                        _ = try await line.subscribe(["Thing": search], session)
                        if await line.isOver(session) { return }
                    }
                }
            }
        },
        Attack("searched-commits", "changes to a text of 2 MB that gateways look through for each session") {
            stranger in
            await stranger.lanes(1) { lane in
                let search = "text CONTAINS '\(String(repeating: "x", count: 20_000))y' OR count >= 0"
                try await subscribed(stranger, lane, to: ["Thing": search]) { line, session in
                    let watcher = try await stranger.line(
                        lane.number + 1, of: stranger.account(lane.number + 1, app: stranger.target.flexible.open),
                        mode: .flexible)
                    let other = try await watcher.openFlexible()
                    _ = try await watcher.subscribe(["Thing": search + " OR count == -1"], other)
                    var length = 2_000_000
                    while !stranger.isOver, await !line.isOver(session) {
                        length -= 1
                        try await line.upload([Writes.text(0, bytes: length)], session)
                        guard await line.acknowledged(session) else { break }
                    }
                    await watcher.close()
                }
            }
        },
        Attack("old-bases", "uploads of 1,000 changes that know nothing of the last 8,000 versions") { stranger in
            await stranger.lanes(1) { lane in
                try await subscribed(stranger, lane, to: ["Thing": "TRUEPREDICATE"]) { line, session in
                    let base = await line.sessions[session]?.progress.latest.version ?? 0
                    for round in 0..<8 {
                        try await line.upload((0..<1_000).map { Writes.put(0, count: round * 1_000 + $0) }, session)
                        guard await line.acknowledged(session) else { return }
                    }
                    let second = try await stranger.line(
                        lane.number + 1, of: stranger.account(lane.number + 1, app: stranger.target.flexible.open),
                        mode: .flexible)
                    let late = try await second.openFlexible()
                    guard try await second.subscribe(["Thing": "TRUEPREDICATE"], late) else { return }
                    while !stranger.isOver, await !second.isOver(late) {
                        try await second.upload((0..<1_000).map { Writes.put(0, count: -$0) }, late, seen: base)
                        guard await second.acknowledged(late) else { break }
                    }
                    await second.close()
                }
            }
        },
        Attack("earlier-sets", "small uploads of a client that has had hundreds of large subscription sets") {
            stranger in
            await stranger.lanes(1) { lane in
                try await subscribed(stranger, lane, to: ["Thing": "count == 0"]) { line, session in
                    let base = await line.sessions[session]?.progress.latest.version ?? 0
                    for number in 0..<200 where !stranger.isOver {
                        let texts = (0..<1_600).map { "'\(number)_\($0)'" }.joined(separator: ",")
                        guard try await line.subscribe(["Thing": "text IN {\(texts)}"], session) else { break }
                    }
                    for number in 0..<2_000 where !stranger.isOver {
                        try await line.upload([Writes.put(300 + number % 100, count: number)], session, seen: base)
                        guard await line.acknowledged(session) else { return }
                    }
                }
            }
        },
        Attack("large-sets", "sessions with subscription sets of 20,000 texts each") { stranger in
            await stranger.lanes(2) { lane in
                let line = try await flexibleLine(stranger, lane, stranger.target.flexible.open)
                for round in 0..<40 where !stranger.isOver {
                    let session = try await line.openFlexible()
                    if round == 0 { try await line.upload([Writes.schema()], session) }
                    let texts = (0..<20_000).map { "'\(lane.number)_\(round)_\($0)'" }.joined(separator: ",")
                    _ = try await line.subscribe(["Thing": "text IN {\(texts)}"], session)
                    if await line.isOver(0) { break }
                }
                await line.close()
            }
        },
        Attack("listed-rules", "a subscription set after the other under rules of 99 kB") { stranger in
            await stranger.lanes(2) { lane in
                let line = try await flexibleLine(stranger, lane, stranger.target.flexible.listed)
                let session = try await line.openFlexible()
                try await line.upload([Writes.texts(["owner", "status"])], session)
                var number = 0
                while !stranger.isOver, await !line.isOver(session) {
                    guard try await line.subscribe(["Task": "status == 'x\(number)'"], session) else { break }
                    number += 1
                }
                await line.close()
            }
        },
        Attack("queried-properties", "queries by 70 properties of a class that others query by one") { stranger in
            await stranger.lanes(1) { lane in
                let line = try await flexibleLine(stranger, lane, stranger.target.flexible.owned)
                let session = try await line.openFlexible()
                let names = (0..<70).map { "x\(lane.round)_\($0)" }
                try await line.upload([Writes.texts(["owner", "status"] + names)], session)
                guard await line.acknowledged(session) else { return await line.close() }
                for start in stride(from: 0, to: names.count, by: 10) where !stranger.isOver {
                    let query = names[start..<(start + 10)].map { "\($0) == 'a'" }.joined(separator: " OR ")
                    _ = try await line.subscribe(["Task": query], session)
                    if await line.isOver(session) { break }
                }
                await line.close()
            }
        },
        Attack("remembered-sets", "new client realms with 16 subscription sets of 250 kB each") { stranger in
            await stranger.lanes(2) { lane in
                let line = try await flexibleLine(stranger, lane, stranger.target.flexible.open)
                for round in 0..<50 where !stranger.isOver {
                    let session = try await line.openFlexible()
                    if round == 0 { try await line.upload([Writes.schema()], session) }
                    let filler = String(repeating: "y", count: 248_000)
                    for number in 0..<16 where !stranger.isOver {
                        let query = "text IN {'\(lane.number)', '\(round)', '\(number)', '\(filler)'}"
                        guard try await line.subscribe(["Thing": query], session) else { break }
                    }
                    try await line.send(.unbind(session: session))
                    if await line.isOver(0) { break }
                }
                await line.close()
            }
        },
    ]

    private static func flexibleLine(_ stranger: Stranger, _ lane: Stranger.Lane, _ app: String) async throws -> Line {
        try await stranger.line(lane.number, of: stranger.account(lane.number, app: app), mode: .flexible)
    }

    /// Gives `body` a session of the open app with its class and a subscription set.
    private static func subscribed(
        _ stranger: Stranger, _ lane: Stranger.Lane, to queries: [String: String],
        _ body: (Line, SessionIdent) async throws -> Void
    ) async throws {
        let line = try await flexibleLine(stranger, lane, stranger.target.flexible.open)
        let session = try await line.openFlexible()
        try await line.upload([Writes.schema()], session)
        if await line.acknowledged(session), try await line.subscribe(queries, session) {
            try await line.upload([Writes.put(0, count: 0)], session)
            if await line.acknowledged(session) { try await body(line, session) }
        }
        await line.close()
    }
}
