import Messages
import Storage
import StorageSupport
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// Rules of partition sync, at a gateway's sockets.
@Suite(.needsBroker, .hangGuard)
struct PermissionTests {
    private static func bind(_ partition: String, _ session: SessionIdent = 1) -> ClientMessage {
        .bind(Bind(session: session, target: "\"\(partition)\"", needsIdent: true))
    }

    private static func refusal(
        _ client: inout SyncClient, session: SessionIdent = 1
    ) async throws -> (code: ErrorCode, body: JSONErrorBody) {
        guard case .jsonError(session, let code, let body) = try await client.nextMessage() else {
            throw HarnessError("expected JSON_ERROR of session \(session)")
        }
        return (code, body)
    }

    private static func notify(_ gateway: GatewayHarness, user: String? = nil) async throws {
        try await gateway.owner?.notify(
            SettingsNotice(app: "tasks", user: user), key: SettingsNotice.topicKey(app: "tasks"))
    }

    /// Binds the first session again until the gateway goes by rules that let it in.
    private static func isLetIn(_ client: inout SyncClient) async throws {
        try await eventually("the gateway goes by the new rules") {
            try await client.send(Self.bind("tasks"))
            if case .ident = try await client.nextMessage() { return true }
            try await client.send(.unbind(session: 1))
            return false
        }
    }

    /// The socket is open, and nothing else has come on it.
    private static func pings(_ client: inout SyncClient) async throws {
        try await client.send(.ping(timestamp: 7, roundTrip: 0))
        try await client.expects(.message(.pong(timestamp: 7)))
    }

    @Test(arguments: [(.keep, "ApplicationBug"), (.delete, "DeleteRealm")] as [(AppRecord.OnReadDenied, ErrorAction)])
    func userWithoutReadRightIsToldAndNothingIsMade(then: AppRecord.OnReadDenied, action: ErrorAction) async throws {
        try await GatewayHarness.with(broker: true, rules: TestRules.own) { gateway in
            _ = try await gateway.store.updateApp("tasks") { $0.onReadDenied = then }
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(Self.bind("somebody-else"))
                let (code, body) = try await Self.refusal(&client)
                expectTrue(code == 206 && body.action == action && !body.tryAgain)
                expectTrue(body.message.contains("permission denied") && body.message.contains("tasks"))
                // The socket serves the user's other realms.
                _ = try await SessionOpening.open(&client, session: 2, partition: "\"\(tokens.user)\"")
            }
            let comings = await gateway.owner?.comings.keys.map(\.partition)
            expectEqual(comings, ["\"\(tokens.user)\""])
        }
    }

    @Test func anAppWithoutRulesLetsNobodyIn() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            // Nobody's copy goes for want of rules.
            try await gateway.store.insert(AppRecord(id: "bare", onReadDenied: .delete, createdAt: 1))
            let tokens = try await gateway.logInAnonymously(app: "bare")
            try await SyncClient.with(port: gateway.port, app: "bare", token: tokens.access) { client in
                try await client.send(Self.bind("p"))
                let (code, body) = try await Self.refusal(&client)
                expectTrue(code == 206 && body.action == "ApplicationBug" && body.message.contains("has no rules"))
            }
            await expectEqual(gateway.owner?.comings.isEmpty, true)
        }
    }

    @Test func rulesThatAreTightenedReachOpenSessions() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                try await gateway.store.setRules(TestRules.closed, of: "tasks")
                try await Self.notify(gateway)
                var (code, body) = try await Self.refusal(&client)
                expectTrue(code == 200 && body.action == "Transient" && body.tryAgain)
                // The client binds the same session again, and is judged anew.
                try await client.send(.unbind(session: 1))
                try await client.send(Self.bind("tasks"))
                (code, body) = try await Self.refusal(&client)
                expectEqual(code, 206)
                // And once it may again, it does.
                try await gateway.store.setRules(TestRules.open, of: "tasks")
                try await Self.notify(gateway)
                try await client.send(.unbind(session: 1))
                try await Self.isLetIn(&client)
            }
        }
    }

    @Test func rulesThatChangeNothingDisturbNobodyAndAreGoneByFromThenOn() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                let version = try await gateway.store.setRules(
                    #"{"partition":{"read":true,"write":{"%%true":true}}}"#, of: "tasks")
                try await Self.notify(gateway)
                var uploaded: UInt64 = 0
                try await eventually("uploads say the new version") {
                    uploaded += 1
                    try await client.send(SessionOpening.upload(uploaded))
                    try await expectTrue(client.nextDownload().entries.isEmpty)
                    return await gateway.owner?.uploads.last?.upload?.rights?.rulesVersion == version
                }
            }
        }
    }

    /// A client that is refused does not come again by itself: rules that are remembered let it in and do not keep it out.
    @Test func onlyTheNewestRulesRefuse() async throws {
        try await GatewayHarness.with(
            broker: true, rules: TestRules.closed, configure: { $0.timings.appCache = .seconds(600) }
        ) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(Self.bind("tasks"))
                try await expectEqual(Self.refusal(&client).code, 206)
                try await gateway.store.setRules(TestRules.open, of: "tasks")
                _ = try await SessionOpening.open(&client, session: 2)
            }
        }
    }

    @Test func onlyTheNewestSettingsRefuse() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.appCache = .seconds(600) }) { gateway in
            var app = AppRecord(id: "flexible", syncMode: .flexible, createdAt: 1)
            app.clientSchemas = SchemaVersionRange("1")
            let all = #"{"name":"all","apply_when":{},"document_filters":{"read":true,"write":true},"read":true}"#
            try await gateway.store.insert(app, rules: #"{"defaultRoles":[\#(all)]}"#)
            let tokens = try await gateway.logInAnonymously(app: "flexible")
            let offers = "com.mongodb.realm-query-sync#14"
            try await SyncClient.with(
                port: gateway.port, app: "flexible", token: tokens.access, offers: offers, mode: .flexible
            ) { client in
                func bind(_ session: SessionIdent) async throws {
                    let target = FlexibleTarget(schemaVersion: 2).text
                    try await client.send(.bind(Bind(session: session, target: target, needsIdent: true)))
                }
                try await bind(1)
                try await expectEqual(Self.refusal(&client).code, 235)
                _ = try await gateway.store.updateApp("flexible") { $0.clientSchemas = SchemaVersionRange("1-2") }
                try await bind(2)
                guard case .ident(2, _) = try await client.nextMessage() else { throw HarnessError("expected IDENT") }
            }
        }
    }

    /// Settings of apps with logins alone are remembered, too.
    @Test func aGatewayWithoutSocketsHearsOfChangedSettings() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.appCache = .seconds(600) }) { gateway in
            _ = try await gateway.logInAnonymously()
            _ = try await gateway.store.updateApp("tasks") { $0.anonymousLogin = false }
            let login = "\(GatewayHarness.app)/auth/providers/anon-user/login"
            try await expectEqual(gateway.request("POST", login, body: "{}").status, 200)
            try await Self.notify(gateway)
            try await eventually("the gateway goes by the new settings") {
                try await gateway.request("POST", login, body: "{}").status == 404
            }
        }
    }

    @Test func aLostNoticeCostsSomeSeconds() async throws {
        try await GatewayHarness.with(
            broker: true, configure: { $0.timings.settingsWatch = .milliseconds(200) }
        ) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                try await gateway.store.setRules(TestRules.closed, of: "tasks")
                try await expectEqual(Self.refusal(&client).code, 200)
            }
            try await gateway.store.setRules(TestRules.open, of: "tasks")
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await Self.isLetIn(&client)
            }
        }
    }

    /// What ends the user's sockets, told by a notice or found out.
    enum Loss: CaseIterable { case disabled, removed, revoked, allRevoked }

    @Test(arguments: Loss.allCases, [true, false])
    func aUserWhoIsGoneIsCutOff(loss: Loss, hearsOfIt: Bool) async throws {
        try await GatewayHarness.with(
            broker: true, configure: { if !hearsOfIt { $0.timings.settingsWatch = .milliseconds(200) } }
        ) { gateway in
            let (gone, other) = (try await gateway.logInAnonymously(), try await gateway.logInAnonymously())
            try await SyncClient.with(port: gateway.port, token: other.access) { staying in
                _ = try await SessionOpening.open(&staying)
                try await SyncClient.with(port: gateway.port, token: gone.access) { client in
                    _ = try await SessionOpening.open(&client)
                    switch loss {
                    case .disabled: try await gateway.store.setDisabled(true, app: "tasks", user: gone.user)
                    case .removed: try await gateway.store.removeUser(app: "tasks", id: gone.user)
                    case .revoked:
                        _ = try await gateway.store.revokeLoginSessions(app: "tasks", user: gone.user)
                    case .allRevoked: _ = try await gateway.store.revokeLoginSessions(app: "tasks", user: nil)
                    }
                    if hearsOfIt { try await Self.notify(gateway, user: loss == .allRevoked ? nil : gone.user) }
                    try await client.expects(.close(4001))
                }
                if loss == .allRevoked {
                    try await staying.expects(.close(4001))
                } else {
                    try await Self.pings(&staying)
                }
            }
        }
    }

    @Test func customDataIsLookedAtAgainWhenItChanges() async throws {
        let rules = #"{"partition":{"read":{"%%user.custom_data.partitions":"%%partition"},"write":false}}"#
        try await GatewayHarness.with(broker: true, rules: rules) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await gateway.store.setCustomData(#"{"partitions":["p1"]}"#, app: "tasks", user: tokens.user)
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client, partition: "\"p1\"")
                try await client.send(Self.bind("p2", 2))
                try await expectEqual(Self.refusal(&client, session: 2).code, 206)
                try await gateway.store.setCustomData(#"{"partitions":["p2"]}"#, app: "tasks", user: tokens.user)
                try await Self.notify(gateway, user: tokens.user)
                try await expectEqual(Self.refusal(&client).code, 200)
                _ = try await SessionOpening.open(&client, session: 3, partition: "\"p2\"")
            }
        }
    }

    @Test func anOwnerThatKnowsNewerRulesHasTheGatewayLookAgain() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.appCache = .seconds(600) }) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                let version = try await gateway.store.setRules(TestRules.closed, of: "tasks")
                await gateway.owner?.refuse(under: version)
                try await client.send(SessionOpening.upload(1))
                try await expectEqual(Self.refusal(&client).code, 200)
                try await client.send(.unbind(session: 1))
                try await client.send(Self.bind("tasks"))
                try await expectEqual(Self.refusal(&client).code, 206)
            }
        }
    }

    @Test func withoutTheStoreWhatIsRememberedHoldsForAWhile() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.appCache = .zero }) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                try await gateway.storeFails(true)
                _ = try await SessionOpening.open(&client, session: 2)
                // What is known to be out of date does not hold.
                try await Self.notify(gateway)
                try await eventually("the gateway has heard of a change") {
                    try await client.send(Self.bind("tasks", 3))
                    switch try await client.nextMessage() {
                    case .jsonError(3, let code, let body):
                        expectTrue(code == 229 && body.action == "Transient" && body.tryAgain)
                        return true
                    default:
                        try await client.send(.unbind(session: 3))
                        try await client.expects(.message(.unbound(session: 3)))
                        return false
                    }
                }
            }
        }
    }

    @Test func withoutTheStoreItHoldsNoLonger() async throws {
        try await GatewayHarness.with(
            broker: true,
            configure: {
                $0.timings.appCache = .zero
                $0.timings.withoutStore = .zero
            }
        ) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                try await gateway.storeFails(true)
                try await client.send(Self.bind("tasks", 2))
                let (code, body) = try await Self.refusal(&client, session: 2)
                expectTrue(code == 229 && body.action == "Transient" && body.tryAgain)
                // Sessions that are open go on.
                try await client.send(SessionOpening.upload(1))
                _ = try await client.nextDownload()
                try await gateway.storeFails(false)
                _ = try await SessionOpening.open(&client, session: 3)
            }
        }
    }

    @Test func withoutTheStoreNobodyIsLetInOfWhomNothingIsKnown() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                // The socket is there, and nobody has looked at the rules yet.
                try await gateway.storeFails(true)
                try await client.send(Self.bind("tasks"))
                let (code, body) = try await Self.refusal(&client)
                expectTrue(code == 229 && body.action == "Transient")
                await expectEqual(gateway.owner?.comings.isEmpty, true)
            }
        }
    }
}
