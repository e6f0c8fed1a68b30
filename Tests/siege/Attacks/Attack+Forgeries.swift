import SeededRandom
import SyncModel
import SyncProtocol
import WireClient

/// Attacks by what a client may not say, or says of others.
extension Attack {
    static let forgeries = [
        Attack("forged-idents", "idents and salts that were never given, or to others, with cursors that cannot be") {
            stranger in
            await stranger.lanes(3) { lane in
                let line = try await stranger.line(lane.number)
                for _ in 0..<500 where !stranger.isOver {
                    let own = try await line.open("idents")
                    guard let file = await line.sessions[own]?.file else { break }
                    try await line.send(.unbind(session: own))
                    let salt = FileSalt(rawValue: file.salt.rawValue ^ 1)
                    let forged = [
                        ClientFileIdent(ident: file.ident, salt: salt),
                        ClientFileIdent(ident: FileIdent(rawValue: 2 + UInt64(lane.random.below(1_000))), salt: salt),
                        ClientFileIdent(ident: FileIdent(rawValue: UInt64(Int64.max)), salt: file.salt),
                        ClientFileIdent(ident: 1, salt: file.salt),
                    ][lane.random.below(4)]
                    let session = await line.nextSession()
                    await line.expect(session)
                    try await line.send(
                        .bind(Bind(session: session, partition: .string("idents"), needsIdent: false)))
                    let version = ServerVersion(rawValue: UInt64(lane.random.below(2)) * UInt64(Int64.max))
                    try await line.send(
                        .ident(
                            Ident(
                                session: session, file: forged, download: DownloadCursor(serverVersion: version),
                                latest: SaltedServerVersion(version: version, salt: 7))))
                    _ = await line.wait(for: .seconds(10)) {
                        $0.isOver(session) || ($0.sessions[session]?.downloads ?? 0) > 0
                    }
                    try await line.send(.unbind(session: session))
                }
                await line.close()
            }
        },
        Attack("foreign-partitions", "BINDs of the partitions of other users and of no user") { stranger in
            await stranger.lanes(3) { lane in
                let line = try await stranger.line(lane.number, app: stranger.target.guarded)
                for number in 0..<500 where !stranger.isOver {
                    let session = await line.nextSession()
                    await line.expect(session)
                    let partitions = ["secret", "secret-\(number)", stranger.target.honestPartition]
                    try await line.send(
                        .bind(
                            Bind(
                                session: session, partition: .string(partitions[lane.random.below(3)]),
                                needsIdent: true)))
                    _ = await line.wait(for: .seconds(10)) { $0.isOver(session) || $0.sessions[session]?.file != nil }
                    try await line.send(.unbind(session: session))
                }
                await line.close()
            }
        },
        Attack("garbage-messages", "random bytes, broken heads and messages out of turn on good sockets") { stranger in
            await stranger.lanes(4) { lane in
                let account = try await stranger.account(lane.number)
                for _ in 0..<200 where !stranger.isOver {
                    let line = try await stranger.line(lane.number, of: account)
                    let session = lane.random.below(2) == 0 ? try? await line.open("garbage") : nil
                    for _ in 0..<4 { try? await line.send(garbage(&lane.random, session ?? 1)) }
                    _ = await line.wait(for: .seconds(5)) { $0.isOver(session ?? 0) }
                    await line.close()
                }
            }
        },
        Attack("garbage-frames", "random bytes where WebSocket frames or HTTP belong") { stranger in
            await stranger.lanes(4) { lane in
                let account = try await stranger.account(lane.number)
                for number in 0..<200 where !stranger.isOver {
                    let bytes = (0..<(1 + lane.random.below(4_000))).map { _ in UInt8(lane.random.below(256)) }
                    if number % 2 == 0 {
                        let line = try await stranger.line(lane.number, of: account)
                        try? await line.sendRaw(bytes)
                        _ = await line.wait(for: .seconds(2)) { $0.isOver(0) }
                        await line.close()
                    } else {
                        _ = try? await stranger.exchange(lane.number).send(bytes, patience: .seconds(2))
                    }
                }
            }
        },
    ]

    private static func garbage(_ random: inout SeededGenerator, _ session: SessionIdent) -> [UInt8] {
        let number = session.rawValue
        let heads = [
            "ident \(number) 2 3 0 0 0 0\n", "upload \(number) 0 5 0 2 0 0\n2 0 1", "mark \(number)\n",
            "bind \(number) 7 0 1 0\n\"tasks\"", "query \(number) 1 2\n{}", "unbind \(number + 7)\n",
            "ping 1\n", "bind -1 7 0 1 0\n\"tasks\"", "test_command \(number) 1 2\n{}",
            "json_error 212 2 \(number)\n{}", "upload \(number) 1 100000 12 2 0 0\nnot packed..",
        ]
        if random.below(3) == 0 { return (0..<(1 + random.below(500))).map { _ in UInt8(random.below(256)) } }
        var bytes = Array(heads[random.below(heads.count)].utf8)
        if random.below(2) == 0 { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
        return bytes
    }
}
