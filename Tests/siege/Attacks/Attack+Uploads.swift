import SeededRandom
import SyncModel
import SyncProtocol

/// Attacks by many uploads, good and bad.
extension Attack {
    static let uploads = [
        Attack("bad-uploads", "changesets that do not parse, each from a new client realm") { stranger in
            await stranger.lanes(3) { lane in
                let line = try await stranger.line(lane.number)
                for _ in 0..<500 where !stranger.isOver {
                    let session = try await line.open("bad-\(lane.number)")
                    let bytes = [0x3E] + (0..<(1 + lane.random.below(200))).map { _ in UInt8(lane.random.below(256)) }
                    try await line.upload([bytes], session)
                    _ = await line.acknowledged(session)
                    try await line.send(.unbind(session: session))
                }
                await line.close()
            }
        },
        Attack("write-flood", "good writes as fast as the server takes them") { stranger in
            await stranger.lanes(4) { lane in
                let line = try await stranger.line(lane.number)
                let session = try await line.open("flood-\(lane.number)")
                try await line.upload([Writes.schema()], session)
                var number = 0
                while !stranger.isOver, await !line.isOver(session) {
                    for _ in 0..<20 {
                        try await line.upload(
                            (0..<10).map { Writes.put((number + $0) % 500, count: number + $0) }, session)
                        number += 10
                    }
                    guard await line.acknowledged(session) else { break }
                }
                await line.close()
            }
        },
        Attack("denied-writes", "writes without the right to write, as fast as they are refused") { stranger in
            await stranger.lanes(3) { lane in
                let line = try await stranger.line(lane.number, app: stranger.target.guarded)
                for round in 0..<500 where !stranger.isOver {
                    let session = try await line.open("notices")
                    for number in 0..<20 { try await line.upload([Writes.put(number, count: round)], session) }
                    _ = await line.acknowledged(session)
                    try await line.send(.unbind(session: session))
                }
                await line.close()
            }
        },
        Attack("schema-filling", "classes of 500 columns each, without end") { stranger in
            await stranger.lanes(2) { lane in
                let line = try await stranger.line(lane.number)
                for round in 0..<200 where !stranger.isOver {
                    let session = try await line.open("schema-\(lane.number)")
                    try await line.upload(
                        [Writes.columns(500, of: "Class\(lane.number)x\(lane.round)x\(round)")], session)
                    _ = await line.acknowledged(session)
                    try await line.send(.unbind(session: session))
                }
                await line.close()
            }
        },
        Attack("wrong-versions", "uploads whose versions go backwards, jump, or end at 2^63-1") { stranger in
            await stranger.lanes(3) { lane in
                let line = try await stranger.line(lane.number)
                let largest = UInt64(Int64.max)
                for _ in 0..<500 where !stranger.isOver {
                    let session = try await line.open("versions-\(lane.number)")
                    let cursors: [(entry: UInt64, progress: UInt64, seen: UInt64, locked: UInt64)] = [
                        (5, 4, 0, 0), (2, largest, 0, 0), (largest, largest, 0, 0), (2, 2, largest, 0),
                        (2, 2, 0, largest), (0, 2, 0, 0), (3, 2, 1_000_000, 1_000_000),
                    ]
                    let chosen = cursors[lane.random.below(cursors.count)]
                    try await line.send(
                        Self.upload(
                            session, entry: chosen.entry, progress: chosen.progress, seen: chosen.seen,
                            locked: chosen.locked))
                    try await line.send(Self.upload(session, entry: 2, progress: 2, seen: 0, locked: 0))
                    await line.setVersion(ClientVersion(rawValue: largest), session)
                    _ = await line.wait(for: .seconds(5)) { $0.isOver(session) }
                    try await line.send(.unbind(session: session))
                    if await line.isOver(0) { break }
                }
                await line.close()
            }
        },
    ]

    private static func upload(
        _ session: SessionIdent, entry: UInt64, progress: UInt64, seen: UInt64, locked: UInt64
    ) throws -> [UInt8] {
        let seen = ServerVersion(rawValue: seen)
        return try Line.encoder.encode(
            .upload(
                Upload(
                    session: session,
                    progress: UploadCursor(clientVersion: ClientVersion(rawValue: progress), serverVersion: seen),
                    lockedServerVersion: ServerVersion(rawValue: locked),
                    entries: [
                        UploadedChangeset(
                            clientVersion: ClientVersion(rawValue: entry), serverVersion: seen,
                            timestamp: SyncTimestamp(rawValue: Writes.epoch), changeset: Writes.schema())
                    ])))
    }
}
