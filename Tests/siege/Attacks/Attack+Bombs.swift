import SeededRandom
import SyncModel
import SyncProtocol
import WireClient

/// Attacks on memory and disk by what is small on the wire and large behind it, or just large.
extension Attack {
    /// What a server takes of one upload, but for the head of its entry.
    private static let largest = 15 * 1024 * 1024 - 64

    static let bombs = [
        Attack("inflating-letters", "uploads of 16 KB that inflate to 15 MiB and do not parse, one after another") {
            stranger in
            await stranger.lanes(2) { lane in
                let line = try await stranger.line(lane.number)
                let bomb = [UInt8](repeating: 0x3E, count: largest)
                for _ in 0..<200 where !stranger.isOver {
                    let session = try await line.open("letters-\(lane.number)")
                    try await line.upload([bomb], session)
                    _ = await line.acknowledged(session)
                    try await line.send(.unbind(session: session))
                }
                await line.close()
            }
        },
        Attack("bombs-one-socket", "64 uploads at once on one socket, 1 MB in all, that inflate to 960 MiB") {
            stranger in
            await stranger.lanes(1) { lane in
                let line = try await stranger.line(lane.number)
                try await explode(stranger, lane, [line], each: 64)
            }
        },
        Attack("bombs-many-sockets", "the same 64 uploads on 32 sockets") { stranger in
            await stranger.lanes(1) { lane in
                var lines: [Line] = []
                for number in 0..<32 { lines.append(try await stranger.line(number)) }
                try await explode(stranger, lane, lines, each: 2)
            }
        },
        Attack("large-values", "good writes of 14 MiB each, 15 KB on the wire") { stranger in
            await stranger.lanes(1) { lane in
                let line = try await stranger.line(lane.number)
                let session = try await line.open("large-\(lane.round)")
                try await line.upload([Writes.schema()], session)
                for object in 0..<100 where !stranger.isOver {
                    try await line.upload([Writes.text(object, bytes: 14 << 20)], session)
                    guard await line.acknowledged(session) else { break }
                }
                await line.close()
            }
        },
        Attack("size-limits", "messages at, above and far above every limit of size, and heads that lie") { stranger in
            await stranger.lanes(2) { lane in
                let line = try await stranger.line(lane.number)
                let session = try await line.open("sizes-\(lane.number)")
                let number = session.rawValue
                func plain(_ size: Int) -> [UInt8] {
                    Array("upload \(number) 0 \(size) 0 2 0 0\n".utf8) + [UInt8](repeating: 0x30, count: size)
                }
                let messages: [[UInt8]] = [
                    plain(15 << 20), plain((15 << 20) + 1), plain((16 << 20) + (64 << 10)), plain(40 << 20),
                    // Announces more than there is, more than may be, and more than a stream can hold.
                    Array("upload \(number) 0 15000000 0 2 0 0\n2 0 1 0 5 ".utf8),
                    Array("upload \(number) 1 15000000 20 2 0 0\n".utf8) + [0x78, 0x01]
                        + [UInt8](repeating: 0, count: 18),
                    Array("upload \(number) 1 9223372036854775807 9223372036854775807 2 0 0\n".utf8),
                    Array("bind 77 1000000 0 1 0\n".utf8) + [UInt8](repeating: 0x22, count: 1_000_000),
                    Array("json_error 212 1048577 \(number)\n".utf8) + [UInt8](repeating: 0x22, count: 1_048_577),
                ]
                try await line.send(messages[lane.random.below(messages.count)])
                _ = await line.wait(for: .seconds(10)) { $0.isOver(session) }
                // A frame that is said to have 2^62 bytes.
                if lane.round % 8 == 7 { try await line.sendRaw([0x82, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]) }
                await line.close()
            }
        },
    ]

    /// Opens sessions on all lines, and then has each of them upload a bomb before any is answered.
    private static func explode(
        _ stranger: Stranger, _ lane: Stranger.Lane, _ lines: [Line], each: Int
    ) async throws {
        let bomb = [UInt8](repeating: 0x3E, count: largest)
        var armed: [(Line, SessionIdent, [UInt8])] = []
        for line in lines {
            for number in 0..<each {
                let session = try await line.open("bombs-\(number)")
                armed.append((line, session, try single(bomb, session)))
            }
        }
        for (line, _, bytes) in armed {
            // A server that does not read any more holds off one socket, not the others.
            Task { try? await line.send(bytes) }
        }
        for (line, session, _) in armed where !stranger.isOver {
            _ = await line.wait(for: .seconds(10)) { $0.isOver(session) }
        }
        for line in lines { await line.close() }
    }

    /// An UPLOAD of one changeset by a client realm that has uploaded nothing yet.
    private static func single(_ changeset: [UInt8], _ session: SessionIdent) throws -> [UInt8] {
        try Line.encoder.encode(
            .upload(
                Upload(
                    session: session, progress: UploadCursor(clientVersion: 2, serverVersion: 0),
                    lockedServerVersion: 0,
                    entries: [
                        UploadedChangeset(
                            clientVersion: 2, timestamp: SyncTimestamp(rawValue: Writes.epoch), changeset: changeset)
                    ])))
    }
}
