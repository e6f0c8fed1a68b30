import Foundation
import Operations
import Storage
import StorageSupport
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// What a client is told at the upgrade; no broker is needed to be refused.
@Suite(.hangGuard)
struct UpgradeTests {
    private static func status(_ gateway: GatewayHarness, _ request: String) async throws -> String {
        try await RawSocket.with(port: gateway.port) { stream in
            try await stream.write(request)
            return String((try await stream.readHead() ?? "").prefix { $0 != "\r" })
        }
    }

    @Test func aBadTokenIsTold4001AfterAnUpgrade() async throws {
        try await GatewayHarness.with { gateway in
            for token in ["", "x", "a.b.c", "eyJhbGciOiJub25lIn0.e30.x"] {
                try await SyncClient.with(port: gateway.port, token: token) { client in
                    expectTrue(client.head.contains("Sec-WebSocket-Protocol: com.mongodb.realm-sync#14"))
                    try await client.expects(.close(4001))
                }
            }
        }
    }

    @Test func aBadTokenOfAnOldClientIsTold401() async throws {
        try await GatewayHarness.with { gateway in
            let offers = "com.mongodb.realm-sync#7, com.mongodb.realm-sync#6"
            let status = try await Self.status(gateway, SyncClient.request(token: "x", offers: offers))
            expectTrue(status.hasPrefix("HTTP/1.1 401"))
        }
    }

    @Test func aTokenOfAnotherAppIsTold4002() async throws {
        try await GatewayHarness.with { gateway in
            try await gateway.store.insert(AppRecord(id: "other", createdAt: 1), rules: TestRules.open)
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, app: "other", token: tokens.access) { client in
                try await client.expects(.close(4002))
            }
        }
    }

    @Test func aDisabledUserIsTold4002AndALoggedOutOne4001() async throws {
        try await GatewayHarness.with { gateway in
            let disabled = try await gateway.logInAnonymously()
            try await gateway.store.setDisabled(true, app: "tasks", user: disabled.user)
            try await SyncClient.with(port: gateway.port, token: disabled.access) { client in
                try await client.expects(.close(4002))
            }
            let left = try await gateway.logInAnonymously()
            _ = try await gateway.request("DELETE", "\(GatewayHarness.auth)/session", bearer: left.refresh)
            try await SyncClient.with(port: gateway.port, token: left.access) { client in
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func anExpiredTokenIsTold4001() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            gateway.clock.advance(by: .seconds(3600))
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func anUnknownAppIs404() async throws {
        try await GatewayHarness.with { gateway in
            let status = try await Self.status(gateway, SyncClient.request(app: "nothing", token: "x"))
            expectTrue(status.hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test func nothingInCommonIs400() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            for offers in ["com.mongodb.realm-sync#9", "com.mongodb.realm-sync#99, chat", "chat"] {
                let status = try await Self.status(gateway, SyncClient.request(token: tokens.access, offers: offers))
                expectTrue(status.hasPrefix("HTTP/1.1 400"))
            }
        }
    }

    @Test func withoutABrokerClientsAreSentToTryLater() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let status = try await Self.status(gateway, SyncClient.request(token: tokens.access))
            expectTrue(status.hasPrefix("HTTP/1.1 503"))
            expectTrue(!gateway.readiness.isReady)
        }
    }

    @Test func requestLinesOf16KiBAreRead() async throws {
        try await GatewayHarness.with { gateway in
            let token = String(repeating: "x", count: 16 << 10)
            try await SyncClient.with(port: gateway.port, token: token) { client in
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func aBrokenHandshakeIs400() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let good = SyncClient.request(token: tokens.access)
            for broken in [
                good.replacingOccurrences(of: "Sec-WebSocket-Version: 13", with: "Sec-WebSocket-Version: 8"),
                good.replacingOccurrences(of: "dGhlIHNhbXBsZSBub25jZQ==", with: "short"),
                good.replacingOccurrences(of: "Upgrade: websocket\r\n", with: ""),
            ] {
                let status = try await Self.status(gateway, broken)
                // 503: without a broker the rest of the handshake is not even looked at.
                expectTrue(status.hasPrefix("HTTP/1.1 400") || status.hasPrefix("HTTP/1.1 503"), "\(status)")
            }
        }
    }

    @Test func garbageAndEndlessHeadsCostTheirOwnSocketOnly() async throws {
        try await GatewayHarness.with { gateway in
            for bytes in [
                Array("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}hello\r\n\r\n".utf8),
                Array(repeating: 0xFF, count: 5000),
                Array("GET / HTTP/1.1\r\nX: ".utf8) + Array(repeating: 0x61, count: 300_000),
            ] {
                _ = try? await RawSocket.with(port: gateway.port) { stream -> [UInt8] in
                    try await stream.write(bytes)
                    return try await stream.readToEnd()
                }
            }
            let answer = try await gateway.request("GET", "\(GatewayHarness.app)/location")
            expectEqual(answer.status, 200)
        }
    }

    @Test func anUpgradeToSomethingElseIsAnOrdinaryRequest() async throws {
        try await GatewayHarness.with { gateway in
            let status = try await Self.status(
                gateway,
                "GET /api/client/v2.0/app/tasks/location HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
            )
            expectTrue(status.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func aSocketThatSaysNothingIsClosed() async throws {
        try await GatewayHarness.with(configure: { $0.timings.firstRequest = .milliseconds(100) }) { gateway in
            let bytes = try await RawSocket.with(port: gateway.port) { stream in try await stream.readToEnd() }
            expectTrue(bytes.isEmpty)
        }
    }
}
