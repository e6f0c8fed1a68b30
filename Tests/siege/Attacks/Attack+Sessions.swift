import Changesets
import SeededRandom
import SyncModel
import SyncProtocol

/// Attacks by sessions: many, short ones, and ones that do not listen.
extension Attack {
    static let sessions = [
        Attack("client-files", "new client realms of new realms, without end") { stranger in
            await stranger.lanes(6) { lane in
                let line = try await stranger.line(lane.number)
                for number in 0..<200 where !stranger.isOver {
                    _ = try await line.open("new-\(lane.number)-\(lane.round)-\(number)")
                }
                await line.close()
            }
        },
        Attack("binds", "one client realm that is bound and unbound as fast as it is answered") { stranger in
            await stranger.lanes(6) { lane in
                let line = try await stranger.line(lane.number)
                var known: Line.Session?
                for _ in 0..<5_000 where !stranger.isOver {
                    let session = try await line.open("binds-\(lane.number)", as: known)
                    known = await line.sessions[session]
                    try await line.send(.unbind(session: session))
                    guard await line.wait({ $0.sessions[session]?.isUnbound == true || $0.isOver(session) }) else {
                        break
                    }
                }
                await line.close()
            }
        },
        Attack("marks", "MARKs and PINGs as fast as the socket takes them") { stranger in
            await stranger.lanes(3) { lane in
                let line = try await stranger.line(lane.number)
                let session = try await line.open("marks-\(lane.number)")
                var request: UInt64 = 0
                while !stranger.isOver, await !line.isOver(session) {
                    for _ in 0..<100 {
                        request += 1
                        try await line.send(.mark(session: session, request: RequestIdent(rawValue: request)))
                        try await line.send(.ping(timestamp: request, roundTrip: 0))
                    }
                    let last = RequestIdent(rawValue: request)
                    _ = await line.wait(for: .seconds(10)) {
                        ($0.sessions[session]?.mark ?? 0) >= last || $0.isOver(session)
                    }
                }
                await line.close()
            }
        },
        Attack("slow-readers", "64 client realms that ask for 24 MiB each and never read") { stranger in
            let writer = try await stranger.line(0)
            let session = try await writer.open("unread")
            try await writer.upload([Writes.schema()], session)
            // A text that does not compress to less than three quarters, so that it is large on the wire, too.
            var random = stranger.random
            let text = (0..<(128 << 10)).flatMap { _ in
                withUnsafeBytes(of: random.next()) { bytes in bytes.map { 48 + $0 & 63 } }
            }
            for object in 0..<24 {
                try await writer.upload([Writes.text(object, ByteString(text))], session)
                _ = await writer.acknowledged(session)
            }
            await stranger.lanes(64, rest: .seconds(1)) { lane in
                let line = try await stranger.line(lane.number, receiveBuffer: 4_096)
                let session = await line.nextSession()
                await line.expect(session)
                try await line.send(.bind(Bind(session: session, partition: .string("unread"), needsIdent: true)))
                guard await line.wait({ $0.sessions[session]?.file != nil || $0.isOver(session) }),
                    let file = await line.sessions[session]?.file
                else { return await line.close() }
                try await line.stopReading()
                try await line.send(.ident(Ident(session: session, file: file)))
                while !stranger.isOver { try await Task.sleep(for: .seconds(1)) }
                await line.close()
            }
        },
    ]
}
