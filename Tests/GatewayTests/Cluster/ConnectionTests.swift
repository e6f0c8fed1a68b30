import Foundation
import Messages
import Storage
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Whole connections: a client on a socket, a real broker, a scripted owner of the slices.
@Suite(.needsBroker, .hangGuard)
struct ConnectionTests {
    @Test func loginUpgradeBindUploadAckAndMark() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                expectTrue(client.head.contains("X-Appservices-Request-Id: "))
                expectTrue(client.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
                let file = try await SessionOpening.open(&client)
                expectTrue(file.ident >= 2)
                try await client.send(.mark(session: 1, request: 1))
                try await expectEqual(client.nextMessage(), .mark(session: 1, request: 1))
                try await client.send(SessionOpening.upload(2))
                guard case .download(let download) = try await client.nextMessage() else {
                    throw HarnessError("expected an acknowledgement")
                }
                expectEqual(download.progress.upload.clientVersion, 2)
                expectTrue(download.entries.isEmpty)
                try await client.send(.ping(timestamp: 42, roundTrip: 0))
                try await expectEqual(client.nextMessage(), .pong(timestamp: 42))
                try await client.send(.unbind(session: 1))
                try await expectEqual(client.nextMessage(), .unbound(session: 1))
            }
            try await eventually("the owner hears of the unbind") { await gateway.owner?.unbinds.count == 1 }
        }
    }

    @Test func theOwnerHearsOfAClientThatBindsAndLeavesAtOnce() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            // The end of a socket counts as leaving, too.
            for (partition, unbinds) in [("\"unbound\"", true), ("\"lost\"", false)] {
                try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                    try await client.send(.bind(Bind(session: 1, target: partition, needsIdent: false)))
                    guard unbinds else { return }
                    try await client.send(.unbind(session: 1))
                    try await expectEqual(client.nextMessage(), .unbound(session: 1))
                }
                let realm = RealmName(app: "tasks", partition: partition)
                try await eventually("the owner hears of both") { await gateway.owner?.comings[realm]?.count == 2 }
                await expectEqual(gateway.owner?.comings[realm], ["bind", "unbind"])
            }
            await expectEqual(gateway.owner?.unbinds.map(\.isOrderly), [true, false])
            await expectEqual(gateway.owner?.unbinds.map(\.wasRefused), [false, false])
        }
    }

    @Test func aClientFileIsNotMadeForAClientThatHasLeft() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(.bind(Bind(session: 1, target: "\"left\"", needsIdent: true)))
                try await client.send(.unbind(session: 1))
                var answer = try await client.nextMessage()
                // The ident may have been given out before the UNBIND was read.
                if case .ident = answer { answer = try await client.nextMessage() }
                expectEqual(answer, .unbound(session: 1))
                // The same realm's slice: what was told of the other session came before this. It leaves with its socket,
                // which tells the two apart.
                try await client.send(.bind(Bind(session: 2, target: "\"left\"", needsIdent: false)))
            }
            let realm = RealmName(app: "tasks", partition: "\"left\"")
            try await eventually("the owner hears that the second has left") {
                await gateway.owner?.unbinds.contains { $0.realm == realm && !$0.isOrderly } == true
            }
            // Either both of a session are told or neither.
            let comings = await gateway.owner?.comings[realm] ?? []
            expectEqual(comings.suffix(2), ["bind", "unbind"])
            expectEqual(comings.count { $0 == "bind" }, comings.count { $0 == "unbind" })
        }
    }

    @Test func uploadsOfOneClientAreDownloadedByOthers() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let (first, second) = (try await gateway.logInAnonymously(), try await gateway.logInAnonymously())
            try await SyncClient.with(port: gateway.port, token: first.access) { ann in
                _ = try await SessionOpening.open(&ann)
                for version in 2...6 {
                    try await ann.send(SessionOpening.upload(UInt64(version), bytes: Array(repeating: 5, count: 2000)))
                }
                var acknowledged: ClientVersion = 0
                while acknowledged < 6 {
                    acknowledged = try await ann.nextDownload().progress.upload.clientVersion
                }
                // A newcomer is fed page by page.
                try await SyncClient.with(port: gateway.port, token: second.access) { bob in
                    _ = try await SessionOpening.open(&bob)
                    try await bob.send(.mark(session: 1, request: 1))
                    var last: Download?
                    while case .download(let download) = try await bob.nextMessage() { last = download }
                    expectEqual(last?.progress.download.serverVersion, 5)
                    expectEqual(last?.progress.latest.version, 5)
                }
                // A client that is live is told at once.
                try await SyncClient.with(port: gateway.port, token: second.access) { cat in
                    _ = try await SessionOpening.open(&cat)
                    try await cat.send(.mark(session: 1, request: 1))
                    while case .download = try await cat.nextMessage() {}
                    try await cat.send(SessionOpening.upload(9))
                }
                guard case .download(let download) = try await ann.nextMessage() else { throw HarnessError("expected") }
                expectEqual(download.entries.map(\.serverVersion), [6])
            }
        }
    }

    @Test func manySessionsShareOneSocket() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                for session in 1...20 {
                    _ = try await SessionOpening.open(
                        &client, session: SessionIdent(UInt64(session)), partition: "\"p\(session)\"")
                }
                for session in 1...20 {
                    try await client.send(SessionOpening.upload(2, session: SessionIdent(UInt64(session))))
                }
                var acknowledged: Set<SessionIdent> = []
                while acknowledged.count < 20 {
                    if case .download(let download) = try await client.nextMessage() {
                        acknowledged.insert(download.session)
                    }
                }
            }
            try await eventually("the owner hears of all losses") { await gateway.owner?.unbinds.count == 20 }
            await expectEqual(gateway.owner?.unbinds.allSatisfy { !$0.isOrderly }, true)
        }
    }

    @Test func resetOutcomesGoToTheCoordinator() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            let path = "\(GatewayHarness.app)/sync/reset-outcomes"
            let report =
                #"{"attempt":"a1","realm":{"app":"tasks","partition":"\"tasks\""},"identOld":5,"identNew":9,"modeRequested":"recover","modeUsed":"recover","result":"recovered","changesets":{"unsynced":2,"recovered":2,"emptied":0,"discarded":0},"backupFile":"/home/ann/x.realm","at":5}"#
            try await expectEqual(gateway.request("POST", path, body: report, bearer: tokens.access).status, 204)
            try await expectEqual(gateway.request("POST", path, body: "[\(report)]", bearer: tokens.access).status, 204)
            try await expectEqual(gateway.request("POST", path, body: report).status, 401)
            try await expectEqual(gateway.request("POST", path, body: "{}", bearer: tokens.access).status, 400)
            for (right, wrong) in [
                (#""discarded":0"#, #""discarded":-1"#), (#""discarded":0"#, #""discarded":9007199254740992"#),
                (#""at":5"#, #""at":9007199254740992"#), (#""at":5"#, #""at":9223372036854775808"#),
                (#""identOld":5"#, #""identOld":9223372036854775808"#),
                (#""identNew":9"#, #""identNew":18446744073709551615"#),
            ] {
                let body = report.replacing(right, with: wrong)
                try await expectEqual(gateway.request("POST", path, body: body, bearer: tokens.access).status, 400)
            }
            try await eventually("the coordinator hears of it") { await gateway.owner?.outcomes.count == 2 }
            let outcome = try #require(await gateway.owner?.outcomes.first).decode(OutcomeReport.self)
            expectEqual(outcome.user, tokens.user)
            expectEqual(outcome.evidence, .client)
            expectTrue(outcome.campaign == nil)
            expectEqual(outcome.backupFile, "x.realm")
            expectEqual(outcome.result, .recovered)
        }
    }
}
