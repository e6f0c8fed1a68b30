import SyncModel
import WireClient

/// Attacks by connections that say nothing, half a thing, or everything slowly.
extension Attack {
    static let connections = [
        Attack("idle-sockets", "2,000 sockets that say nothing or half a handshake of HTTP, TLS or WebSocket") {
            stranger in
            let request = try await stranger.account(0).upgrade(.partition)
            let halves: [[UInt8]] = [
                [], Array("GET /api/client/v2.0/app/x/location HTTP/1.1\r\nHost: a\r\n".utf8),
                // The beginning of a TLS ClientHello.
                [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03], Array(request.utf8.prefix(200)),
                // A whole upgrade, and then half a frame.
                Array(request.utf8) + [0x82, 0xFE, 0x10],
            ]
            await stranger.lanes(2_000, rest: .seconds(1)) { lane in
                let socket = try await TCPSocket.connect(
                    port: stranger.port(lane.number), from: Stranger.address(lane.number % 50))
                let half = halves[lane.number % halves.count]
                stranger.tally.sent(half.count)
                if !half.isEmpty { try await socket.write(half) }
                for await bytes in socket.received { stranger.tally.received(bytes.count) }
                stranger.tally.refused("ended")
                await socket.close()
            }
        },
        Attack("slow-bodies", "500 POST requests whose bodies come byte by byte") { stranger in
            await stranger.lanes(500) { lane in
                let socket = try await TCPSocket.connect(
                    port: stranger.port(lane.number), from: Stranger.address(lane.number % 50))
                let head = Array(
                    """
                    POST \(Account.root)/app/\(stranger.target.app)/auth/providers/local-userpass/login HTTP/1.1\r
                    Host: a\r
                    Content-Length: 50000\r
                    \r
                    {
                    """.utf8)
                stranger.tally.sent(head.count)
                try await socket.write(head)
                let drip = Task {
                    while !Task.isCancelled {
                        try await Task.sleep(for: .seconds(1))
                        try await socket.write([0x20])
                    }
                }
                for await bytes in socket.received {
                    stranger.tally.received(bytes.count)
                    stranger.tally.refused("HTTP \(HTTPAnswerHead.parse(bytes)?.head.status ?? 0)")
                    break
                }
                drip.cancel()
                await socket.close()
            }
        },
        Attack("reconnects", "sockets that are opened and left, as fast as they are accepted") { stranger in
            await stranger.lanes(6, rest: .zero) { lane in
                let account = try await stranger.account(lane.number)
                for _ in 0..<200 where !stranger.isOver {
                    let line = try await stranger.line(lane.number, of: account)
                    stranger.tally.accepted()
                    await line.close()
                }
            }
        },
    ]
}
