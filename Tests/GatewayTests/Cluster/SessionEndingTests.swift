import Foundation
import Messages
import Storage
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// What ends sessions and sockets, other than their client.
@Suite(.needsBroker, .hangGuard)
struct SessionEndingTests {
    @Test func anUnknownClientFileIsResetAndTheCoordinatorHearsOfIt() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
                try await client.send(.ident(Ident(session: 1, file: ClientFileIdent(ident: 99, salt: 1))))
                guard case .jsonError(1, .badClientFileIdent, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected 208")
                }
                expectEqual(body.action, .clientReset)
                try await client.send(.mark(session: 1, request: 1))
                try await client.send(.unbind(session: 1))
                _ = try await SessionOpening.open(&client, session: 2)
            }
            try await eventually("the coordinator hears of it") { await !(gateway.owner?.outcomes ?? []).isEmpty }
            let report = try #require(await gateway.owner?.outcomes.first).decode(NotifiedReport.self)
            expectEqual(report.campaign, "c1")
            expectEqual(report.clientFile, 99)
        }
    }

    @Test func aTerminationReachesLiveSessions() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                guard let slices = SliceCount(2) else { return }
                try await gateway.owner?.notify(
                    ResetNotice(
                        app: "tasks", partition: nil, slice: SessionOpening.realm.slice(of: slices), generation: 2,
                        clientFile: nil,
                        campaign: "c5", code: 208, message: "sync was terminated"),
                    key: ResetNotice.topicKey(app: "tasks"))
                guard case .jsonError(1, .badClientFileIdent, _) = try await client.nextMessage() else {
                    throw HarnessError("expected 208")
                }
            }
            try await eventually("the coordinator hears of it") { await gateway.owner?.outcomes.count == 1 }
        }
    }

    @Test func pausingAnAppEndsItsSessionsForAWhile() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                _ = try await gateway.store.updateApp("tasks") { $0.syncState = .paused }
                try await gateway.owner?.notify(
                    SettingsNotice(app: "tasks"), key: SettingsNotice.topicKey(app: "tasks"))
                guard case .jsonError(1, .initialSyncNotCompleted, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected 229")
                }
                expectEqual(body.action, .transient)
            }
        }
    }

    @Test func theNewerConnectionOfAClientFileWins() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { older in
                let file = try await SessionOpening.open(&older)
                try await SyncClient.with(port: gateway.port, token: tokens.access) { newer in
                    try await newer.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
                    try await newer.send(.ident(Ident(session: 1, file: file)))
                    guard case .download = try await newer.nextMessage() else {
                        throw HarnessError("expected DOWNLOAD")
                    }
                    try await newer.send(.ping(timestamp: 1, roundTrip: 0))
                    try await expectEqual(newer.nextMessage(), .pong(timestamp: 1))
                }
                try await older.expects(.end)
            }
        }
    }

    @Test func aTokenIsGoodForItsLifeAndAGrace() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                gateway.clock.advance(by: .seconds(1800 + 200))
                try await client.send(.ping(timestamp: 3, roundTrip: 0))
                var answer = try await client.nextMessage()
                // What the session asked its owner just before ran out as the clock went on.
                if case .jsonError = answer { answer = try await client.nextMessage() }
                expectEqual(answer, .pong(timestamp: 3))
                gateway.clock.advance(by: .seconds(200))
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func aLogoutClosesTheSocketsOfThatLogin() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                _ = try await gateway.request("DELETE", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func aShutdownTellsClientsToComeBack() async throws {
        let waiting = Mutex<Task<Void, any Error>?>(nil)
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            let port = gateway.port
            let (signal, done) = AsyncStream<Void>.makeStream()
            // Outlives the body on purpose: what it checks happens while the gateway stops.
            let client = Task {
                try await SyncClient.with(port: port, token: tokens.access) { client in
                    _ = try await SessionOpening.open(&client)
                    done.yield()
                    guard case .jsonError(0, .connectionClosed, let body) = try await client.nextMessage() else {
                        throw HarnessError("expected 100")
                    }
                    expectEqual(body.action, .transient)
                    expectTrue(body.tryAgain)
                    try await client.expects(.end)
                }
            }
            for await _ in signal { break }
            waiting.withLock { $0 = client }
        }
        try await waiting.withLock { $0 }?.value
    }
}
