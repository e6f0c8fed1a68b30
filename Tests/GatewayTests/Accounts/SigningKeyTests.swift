import Foundation
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Gateway

/// New signing keys: who signs with them, and what the old ones are still good for.
@Suite(.hangGuard) struct SigningKeyTests {
    private static func keyID(of token: String) throws -> String {
        let text = token.prefix { $0 != "." }.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
        let header = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: padded)))
        return try #require((header as? [String: any Sendable])?["kid"] as? String)
    }

    private static func rotate(_ gateway: GatewayHarness, _ kinds: [TokenKind] = TokenKind.allCases) async throws {
        for kind in kinds {
            let key = SigningKeyRecord(for: kind, at: gateway.clock.clock.unixMilliseconds())
            try await expectTrue(gateway.store.addSigningKey(key, unlessNewerThan: .max))
        }
    }

    private static func refresh(_ gateway: GatewayHarness, _ token: String) async throws -> HTTPAnswer {
        try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: token)
    }

    @Test func aTokenOfANewKeyIsReadByAGatewayThatHasNotHeardOfIt() async throws {
        try await GatewayHarness.with { unaware in
            try await Self.rotate(unaware)
            try await GatewayHarness.with(store: unaware.store) { aware in
                let tokens = try await aware.logInAnonymously()
                // All at once: one of them has the keys read, and the others wait for it.
                try await withThrowingTaskGroup(of: UInt.self) { group in
                    for _ in 0..<32 { group.addTask { try await Self.refresh(unaware, tokens.refresh).status } }
                    for try await status in group { expectEqual(status, 200) }
                }
                let profile = try await unaware.request(
                    "GET", "\(GatewayHarness.auth)/profile", bearer: tokens.access)
                expectEqual(profile.status, 200)
            }
        }
    }

    @Test func gatewaysSignWithTheNewestThoughNobodyTellsThem() async throws {
        try await GatewayHarness.with(configure: { $0.timings.keyReading = .milliseconds(50) }) { gateway in
            let before = try await gateway.logInAnonymously()
            try await Self.rotate(gateway)
            try await eventually("the new key signs") {
                let now = try await gateway.logInAnonymously()
                return try Self.keyID(of: now.access) != Self.keyID(of: before.access)
                    && Self.keyID(of: now.refresh) != Self.keyID(of: before.refresh)
            }
            // Nobody is logged out, and old access tokens are good to their end.
            try await expectEqual(Self.refresh(gateway, before.refresh).status, 200)
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: before.access)
            expectEqual(profile.status, 200)
        }
    }

    @Test(.needsBroker) func gatewaysSignWithTheNewestAsSoonAsTheyAreTold() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.keyReading = .seconds(3600) }) { gateway in
            let before = try await gateway.logInAnonymously()
            try await Self.rotate(gateway, [.access])
            let unaware = try await gateway.logInAnonymously()
            try expectEqual(Self.keyID(of: unaware.access), Self.keyID(of: before.access))
            try await gateway.owner?.notify(SigningKeysNotice(), key: SigningKeysNotice.topicKey)
            try await eventually("the new key signs") {
                let now = try await gateway.logInAnonymously()
                return try Self.keyID(of: now.access) != Self.keyID(of: before.access)
            }
        }
    }

    @Test func aTokenOfAKeyThatIsGoneIsRefusedAndMadeUpKeysDoNotWearOutTheStore() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let refreshKey = try Self.keyID(of: tokens.refresh)
            try await Self.rotate(gateway)
            try await gateway.store.removeSigningKeys([refreshKey])
            // A gateway that starts now knows the new ones only.
            try await GatewayHarness.with(store: gateway.store) { other in
                try await expectEqual(Self.refresh(other, tokens.refresh).status, 401)
                // A moment later it is not known whether there is such a key by now: nobody is logged out for that.
                var answers: [UInt] = []
                for _ in 0..<5 { answers.append(try await Self.refresh(other, tokens.refresh).status) }
                expectTrue(answers.contains(503) && answers.allSatisfy { $0 == 503 || $0 == 401 })
                try await eventually("it is known") { try await Self.refresh(other, tokens.refresh).status == 401 }
            }
        }
    }
}
