import Changesets
import Storage
import StorageSupport
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// The clients that may sync with an app of which all copies have to end equal.
@Suite(.needsBroker, .hangGuard)
struct CompatibilityTests {
    private static func with(_ body: @Sendable @escaping (GatewayHarness, String) async throws -> Void) async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            try await gateway.store.insert(
                AppRecord(id: "own", compatibility: .convergent, createdAt: 1), rules: TestRules.open)
            try await body(gateway, try await gateway.logInAnonymously(app: "own").access)
        }
    }

    @Test(arguments: [nil, "stockClients", "stockClients, something-newer", ""])
    func aClientThatDoesNotKnowTheRulesIsRefusedAndToldWhatToDo(compatibilities: String?) async throws {
        try await Self.with { gateway, token in
            try await SyncClient.with(port: gateway.port, app: "own", token: token, compatibilities: compatibilities) {
                client in
                try await expectTrue(client.greeting().compatibility == nil)
                try await client.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
                guard case .jsonError(1, let code, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected JSON_ERROR")
                }
                expectTrue(code == .otherSessionError && body.action == .applicationBug && !body.tryAgain)
                expectTrue(body.message.contains("app own is convergent"))
                expectTrue(body.message.contains("an app created with compatibility stockClients"))
            }
            await expectEqual(gateway.owner?.comings.isEmpty, true)
        }
    }

    @Test func aClientThatKnowsThemIsToldThatTheyHoldAndSyncs() async throws {
        try await Self.with { gateway, token in
            try await SyncClient.with(
                port: gateway.port, app: "own", token: token, compatibilities: "stockClients, convergent"
            ) { client in
                try await expectEqual(client.greeting().compatibility, "convergent")
                _ = try await SessionOpening.open(&client)
            }
        }
    }

    @Test func anAppForStockClientsTakesEverybody() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let token = try await gateway.logInAnonymously().access
            for (compatibilities, expected) in [(nil, nil), ("convergent,stockClients", "stockClients")] {
                try await SyncClient.with(port: gateway.port, token: token, compatibilities: compatibilities) {
                    client in
                    try await expectEqual(client.greeting().compatibility, expected)
                    _ = try await SessionOpening.open(&client)
                }
            }
        }
    }
}
