import Foundation
import Messages
import Operations
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// The gateway's connections to the broker are cut while clients are connected.
@Suite(.needsBrokerControl, .hangGuard)
struct BrokerLossTests {
    /// Closes this gateway's connections from the broker's side, and nobody else's.
    private static func cut(_ gateway: GatewayHarness) async throws {
        // The list lags behind.
        var pids: [String] = []
        try await eventually("both connections are listed") {
            let list = try await TestBroker.control("list_connections", "pid", "client_properties", "--silent")
            pids = list.split(separator: "\n").filter { $0.contains("\(gateway.topology.prefix) gateway") }
                .compactMap { $0.split(separator: "\t").first.map(String.init) }
            return pids.count == 2
        }
        for pid in pids { try await TestBroker.control("close_connection", pid, "cut by a test") }
    }

    @Test func sessionsSurviveAndGoOnWithEverything() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                try await client.send(SessionOpening.upload(2))
                guard case .download = try await client.nextMessage() else { throw HarnessError("expected an ack") }
                try await Self.cut(gateway)
                // Uploads go on while the broker is away, and are not lost.
                for version in 3...8 { try await client.send(SessionOpening.upload(UInt64(version))) }
                var acknowledged: ClientVersion = 2
                while acknowledged < 8 {
                    switch try await client.next() {
                    case .message(.download(let download)): acknowledged = download.progress.upload.clientVersion
                    case let other: throw HarnessError("expected DOWNLOADs, got \(other)")
                    }
                }
                let history = await gateway.owner?.history(of: SessionOpening.realm) ?? []
                expectEqual(history.map(\.clientVersion), [2, 3, 4, 5, 6, 7, 8])
                try await eventually("the gateway is ready again") { gateway.readiness.isReady }
                // The queue is bound again: a notice of another writer arrives. Or, if the session has yet to ask for what it
                // missed, the page with it.
                await gateway.owner?.write([1], to: SessionOpening.realm)
                let latest = ServerVersion(UInt64(history.count))
                try await gateway.owner?.notify(
                    IntegratedNotice(
                        realm: SessionOpening.realm, generation: 1, follows: latest,
                        latest: SaltedServerVersion(version: latest + 1, salt: 77),
                        entries: [
                            HistoryEntry(
                                serverVersion: latest + 1, clientVersion: 1, originFile: 99, timestamp: 1,
                                changeset: [1])
                        ], acknowledgements: []), key: SessionOpening.realm.topicKey)
                while true {
                    guard case .download(let download) = try await client.nextMessage() else {
                        throw HarnessError("expected the notice's DOWNLOAD")
                    }
                    if !download.entries.isEmpty { break }
                }
            }
        }
    }

    @Test func aMissedNoticeIsMadeUpAfterTheLoss() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                // Written by somebody else, and its notice never sent.
                await gateway.owner?.write([5], to: SessionOpening.realm)
                try await Self.cut(gateway)
                guard case .download(let download) = try await client.nextMessage() else {
                    throw HarnessError("expected a DOWNLOAD")
                }
                expectEqual(download.entries.map(\.serverVersion), [1])
            }
        }
    }
}
