import Foundation
import Messages
import Storage
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// What one client, or a silent owner, may cost, and whom.
@Suite(.needsBroker, .hangGuard)
struct ConnectionLimitTests {
    @Test func aSilentOwnerCostsTheSessionAndNotTheSocket() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.requestDeadline = .milliseconds(1500) }) {
            gateway in
            let tokens = try await gateway.logInAnonymously()
            await gateway.owner?.ignore([BindRequest.type])
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
                guard case .jsonError(1, .otherSessionError, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected 201")
                }
                expectEqual(body.action, .transient)
                expectTrue(body.tryAgain)
                await gateway.owner?.ignore([])
                // The deadline is short, and the machine may be busy: a client whose session is refused tries again.
                let isOpen = try await SessionOpening.isOpened(&client, onAnyOf: 2..<30)
                expectTrue(isOpen)
            }
        }
    }

    @Test func unacknowledgedUploadsStopTheReading() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.limits.sessionUnacknowledgedBytes = 1000 }) {
            gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                await gateway.owner?.ignore([ChangesetMessage.type])
                for version in 2...40 {
                    try await client.send(
                        SessionOpening.upload(UInt64(version), bytes: Array(repeating: 1, count: 600)))
                }
                try await client.send(.ping(timestamp: 7, roundTrip: 0))
                try await Self.exchange(with: gateway)
                let seen = await gateway.owner?.received.filter { $0 == ChangesetMessage.type }.count ?? 0
                expectTrue(seen < 10)
            }
            // The rest of the budget comes back with the socket's end.
            let other = try await gateway.logInAnonymously()
            await gateway.owner?.ignore([])
            try await SyncClient.with(port: gateway.port, token: other.access) { client in
                _ = try await SessionOpening.open(&client)
            }
        }
    }

    /// What a further client says reaches the owner, and is answered: so might have been what came before.
    private static func exchange(with gateway: GatewayHarness) async throws {
        let tokens = try await gateway.logInAnonymously()
        try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
            _ = try await SessionOpening.open(&client, partition: "\"witness\"")
            try await client.send(.ping(timestamp: 1, roundTrip: 0))
            try await expectEqual(client.nextMessage(), .pong(timestamp: 1))
        }
    }

    /// 655 KB on the wire that become 600 MiB once they are inflated.
    @Test func uploadsAreCountedAsWhatTheyBecome() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.limits.gatewayUnacknowledgedBytes = 16 << 20 }) {
            gateway in
            await gateway.owner?.ignore([ChangesetMessage.type])
            let tokens = try await gateway.logInAnonymously()
            let packed = SessionOpening.upload(2, bytes: Array(repeating: 0, count: 10 << 20))
            try await SyncClient.with(port: gateway.port, token: tokens.access) { first in
                _ = try await SessionOpening.open(&first)
                try await first.send(packed)
                func seen() async -> Int {
                    await gateway.owner?.received.filter { $0 == ChangesetMessage.type }.count ?? 0
                }
                try await eventually { await seen() == 1 }
                // Further sockets may not send theirs, though they have sent nothing yet; but they may speak.
                for socket in 1...4 as ClosedRange<UInt64> {
                    try await SyncClient.with(port: gateway.port, token: tokens.access) { other in
                        _ = try await SessionOpening.open(&other, partition: "\"p\(socket)\"")
                        try await other.send(.ping(timestamp: socket, roundTrip: 0))
                        try await expectEqual(other.nextMessage(), .pong(timestamp: socket))
                        try await other.send(packed)
                        try await Self.exchange(with: gateway)
                    }
                }
                await expectEqual(seen(), 1)
            }
            // What the first one had under way is given back with its socket.
            try await SyncClient.with(port: gateway.port, token: tokens.access) { last in
                _ = try await SessionOpening.open(&last, partition: "\"last\"")
                try await last.send(packed)
                try await eventually {
                    await gateway.owner?.received.filter { $0 == ChangesetMessage.type }.count ?? 0 >= 2
                }
            }
        }
    }

    @Test func anUploadThatTheBrokerMightNotTakeIsRefused() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                try await client.send(SessionOpening.upload(2, bytes: Array(repeating: 0, count: 15 << 20)))
                try await expectEqual(Self.close(of: &client)?.contains("limit exceeded"), true)
            }
            // Our own clients are told more than a close code can say.
            try await SyncClient.with(port: gateway.port, token: tokens.access, compatibilities: "stockClients") {
                client in
                _ = try await SessionOpening.open(&client)
                try await client.send(SessionOpening.upload(2, bytes: Array(repeating: 0, count: 15 << 20)))
                guard case .jsonError(1, _, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected an error of the session")
                }
                expectTrue(body.action == .clientReset && body.message.contains("limit exceeded"))
            }
        }
    }

    /// The reason of a close frame with 1009; nil if another message comes.
    private static func close(of client: inout SyncClient) async throws -> String? {
        guard let (opcode, payload) = try await client.nextFrame(), opcode == 0x8, payload.prefix(2) == [0x03, 0xF1]
        else { return nil }
        return String(decoding: payload.dropFirst(2), as: UTF8.self)
    }

    /// Word for word what a stock client's app is told.
    @Test func aMessageBeyondTheLimitClosesTheSocketOfItsOnlySession() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                let size = 17 << 20
                let head = Array("upload 1 0 \(size) 0 2 0 0\n2 0 1 0 \(size - 20) ".utf8)
                try await client.sendBinary(head + Array(repeating: 0, count: size))
                try await expectEqual(Self.close(of: &client), "read limited at 16777217 bytes")
                await expectEqual(gateway.owner?.resets.count, 1)
                try await eventually("the coordinator hears that the client knows") {
                    await gateway.owner?.outcomes.isEmpty == false
                }
            }
        }
    }

    @Test func rulesBrokenByOneClientCostThatClientOnly() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { good in
                _ = try await SessionOpening.open(&good)
                let hostile: [[UInt8]] = [
                    Array("".utf8), Array("bind".utf8), Array("mark 9 1\n".utf8), Array("bind 1 4 0 1 0\n\"a\"".utf8),
                    Array("ident 1 2 3 0 0 0 0\n".utf8), Array("upload 1 1 99999999 4 0 0 0\nabcd".utf8),
                    Array("pong 1\n".utf8), Array(repeating: 0x20, count: 5000),
                ]
                for payload in hostile {
                    try await SyncClient.with(port: gateway.port, token: tokens.access) { bad in
                        try await bad.sendBinary(payload)
                        guard case .message(.jsonError(0, let code, let body)) = try await bad.next() else {
                            throw HarnessError("expected an error of the connection")
                        }
                        expectTrue((100...199).contains(code.rawValue))
                        expectEqual(body.action, .protocolViolation)
                        try await bad.expects(.end)
                    }
                }
                try await SyncClient.with(port: gateway.port, token: tokens.access) { bad in
                    try await bad.stream.write(SyncClient.frame(0x81, Array("text".utf8)))
                    try await bad.expects(.close(1003))
                }
                try await SyncClient.with(port: gateway.port, token: tokens.access) { bad in
                    try await bad.send(.bind(Bind(session: 1, target: "{not json", needsIdent: true)))
                    guard case .jsonError(1, .illegalRealmPath, _) = try await bad.nextMessage() else {
                        throw HarnessError("expected 204")
                    }
                    try await bad.send(.unbind(session: 1))
                    _ = try await SessionOpening.open(&bad)
                }
                try await good.send(.ping(timestamp: 3, roundTrip: 0))
                try await expectEqual(good.nextMessage(), .pong(timestamp: 3))
            }
        }
    }

    @Test func anUploadBeyondTheLimitResetsItsSessionOnly() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client, session: 1, partition: "\"a\"")
                _ = try await SessionOpening.open(&client, session: 2, partition: "\"b\"")
                let size = 17 << 20
                let head = Array("upload 1 0 \(size) 0 2 0 0\n2 0 1 0 \(size - 20) ".utf8)
                try await client.sendBinary(head + Array(repeating: 0, count: size))
                guard case .jsonError(1, _, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected")
                }
                expectEqual(body.action, .clientReset)
                try await client.send(.mark(session: 2, request: 1))
                try await expectEqual(client.nextMessage(), .mark(session: 2, request: 1))
            }
        }
    }
}
