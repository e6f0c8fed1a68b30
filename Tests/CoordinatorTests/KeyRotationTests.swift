import AMQP
import AdminAPI
import Foundation
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.needsBroker, .hangGuard) struct KeyRotationTests {
    private static func keys(_ coordinator: RunningCoordinator) async throws -> [KeyDocument] {
        let answer = try await coordinator.request("GET", "keys")
        return try JSONDecoder().decode(KeyList.self, from: Data(answer.text.utf8)).keys
    }

    @Test func keysAreMadeByCommandAndGatewaysAreTold() async throws {
        try await CoordinatorHarness.with { harness in
            let first = SigningKeyRecord(for: .access, at: 1_000)
            _ = try await harness.store.addSigningKey(first, unlessNewerThan: 0)
            let queue = try await harness.channel.declareQueue(
                AMQPQueueDeclaration(name: "", durable: false, exclusive: true))
            try await harness.channel.bindQueue(
                queue.name, exchange: harness.topology.realms, routingKey: SigningKeysNotice.topicKey)
            try await harness.withCoordinator(tick: .seconds(3600)) { coordinator in
                try await eventually { coordinator.isServing }
                let rotated = try await coordinator.request("POST", "keys/rotate", #"{"purpose":"access"}"#)
                expectTrue(rotated.status == 201 && !rotated.text.contains("PRIVATE"))
                _ = try await harness.next(SigningKeysNotice.self, in: queue.name)
                let keys = try await Self.keys(coordinator)
                expectTrue(keys.map(\.purpose) == ["access", "access"] && keys.last?.id == first.id)
                expectTrue(keys.first?.verifiesUntil == nil)
                expectEqual(keys.last?.verifiesUntil, keys.first.map { $0.createdAt + 2_460_000 })
                try await expectEqual(coordinator.request("POST", "keys/rotate").status, 201)
                try await expectEqual(Self.keys(coordinator).map(\.purpose), ["access", "access", "access", "refresh"])
                let wrong = try await coordinator.request("POST", "keys/rotate", #"{"purpose":"admin"}"#)
                expectTrue(wrong.status == 400 && wrong["message"]?.contains("one of access, refresh") == true)
            }
        }
    }

    @Test func oldKeysAreReplacedAndSpentOnesForgotten() async throws {
        try await CoordinatorHarness.with { harness in
            for (kind, age) in [(TokenKind.access, 40), (.access, 20), (.refresh, 3)] {
                let at = UInt64(Date().timeIntervalSince1970 * 1000) - UInt64(age) * 86_400_000
                let key = SigningKeyRecord(
                    id: "\(kind)-\(age)", purpose: kind.rawValue, privateKeyPEM: "pem", createdAt: at)
                _ = try await harness.store.addSigningKey(key, unlessNewerThan: .max)
            }
            try await harness.withCoordinator(keyRotation: .seconds(10 * 86_400)) { coordinator in
                try await eventually("the old ones are replaced") {
                    let ids = try await harness.store.signingKeys().map(\.id)
                    // The one of 40 days has signed nothing for 20; that of 20 days signed a moment ago.
                    return !ids.contains("access-40") && ids.contains("access-20") && ids.count == 3
                }
                // Once is enough: it looks again with each beat, of which a slice that has an owner hears before.
                for _ in 0..<3 {
                    let now = UInt64(Date().timeIntervalSince1970 * 1000)
                    try await harness.publish(
                        HeartbeatMessage(
                            worker: "w1", at: 1, owns: [SliceNumber(0)], standsBy: [], epochs: [:], load: 0,
                            isStaying: true),
                        to: harness.topology.presence, mandatory: false)
                    let slice = harness.topology.slice(SliceNumber(0))
                    while try await harness.next(TickMessage.self, in: slice).at <= now {}
                }
                try await expectEqual(harness.store.signingKeys().count, 3)
            }
        }
    }
}
