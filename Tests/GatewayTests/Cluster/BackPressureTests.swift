import Messages
import Storage
import StorageSupport
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// A client that is slow, or sends too much, is alone with it.
@Suite(.needsBroker, .hangGuard)
struct BackPressureTests {
    /// Returns bytes that nothing can compress.
    private static func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

    @Test func aClientThatDoesNotReadDelaysNobodyAndMissesNothing() async throws {
        let count = 240
        let changeset = Self.noise(64 << 10)
        try await GatewayHarness.with(broker: true, configure: { $0.limits.connectionOutboundBytes = 256 << 10 }) {
            gateway in
            let (first, second) = (try await gateway.logInAnonymously(), try await gateway.logInAnonymously())
            try await SyncClient.with(port: gateway.port, token: first.access) { slow in
                _ = try await SessionOpening.open(&slow)
                try await SyncClient.with(port: gateway.port, token: second.access) { writer in
                    _ = try await SessionOpening.open(&writer)
                    var acknowledged: ClientVersion = 0
                    // More than the sockets between them hold, and all of it while the other reads nothing.
                    for version in 2...(count + 1) {
                        try await writer.send(SessionOpening.upload(UInt64(version), bytes: changeset))
                        while acknowledged < ClientVersion(UInt64(max(0, version - 10))) {
                            acknowledged = try await writer.nextDownload().progress.upload.clientVersion
                        }
                    }
                    while acknowledged < ClientVersion(UInt64(count + 1)) {
                        acknowledged = try await writer.nextDownload().progress.upload.clientVersion
                    }
                }
                var versions: [ServerVersion] = []
                while versions.count < count {
                    versions += try await slow.nextDownload().entries.map(\.serverVersion)
                }
                expectEqual(versions, (1...UInt64(count)).map(ServerVersion.init))
            }
        }
    }

    @Test func anAppWhoseUploadsPileUpDoesNotStopTheOthers() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.limits.gatewayUnacknowledgedBytes = 64 << 10 }) {
            gateway in
            try await gateway.store.insert(AppRecord(id: "flood", createdAt: 1), rules: TestRules.open)
            await gateway.owner?.leave(["flood"])
            let flooding = try await gateway.logInAnonymously(app: "flood")
            let calm = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, app: "flood", token: flooding.access) { flood in
                _ = try await SessionOpening.open(&flood)
                for version in 2...9 {
                    try await flood.send(
                        SessionOpening.upload(UInt64(version), bytes: Self.noise(16 << 10)))
                }
                try await eventually("the flood has filled the budget") {
                    await (gateway.owner?.uploads.count ?? 0) >= 3
                }
                try await SyncClient.with(port: gateway.port, token: calm.access) { client in
                    _ = try await SessionOpening.open(&client)
                    for version in 2...9 {
                        try await client.send(
                            SessionOpening.upload(UInt64(version), bytes: Self.noise(16 << 10)))
                    }
                    var acknowledged: ClientVersion = 0
                    while acknowledged < 9 {
                        acknowledged = try await client.nextDownload().progress.upload.clientVersion
                    }
                }
                // The client's socket is not read any more.
                let uploads = await gateway.owner?.uploads.count { $0.realm.app == "flood" } ?? 0
                expectTrue(uploads < 8)
            }
        }
    }

    /// Room for the small upload that comes after a large one does not let it overtake: its progress would acknowledge both.
    @Test func ofAClientThatIsGoneNoUploadComesAfterOneThatHadNoRoom() async throws {
        let flooded = RealmName(app: "tasks", partition: "\"flooded\"")
        try await GatewayHarness.with(broker: true, configure: { $0.limits.gatewayUnacknowledgedBytes = 64 << 10 }) {
            gateway in
            guard let owner = gateway.owner else { throw HarnessError("no owner") }
            let (first, second) = (try await gateway.logInAnonymously(), try await gateway.logInAnonymously())
            await owner.ignore([ChangesetMessage.type])
            try await SyncClient.with(port: gateway.port, token: first.access) { flood in
                _ = try await SessionOpening.open(&flood, partition: flooded.partition)
                try await flood.send(SessionOpening.upload(2, bytes: Self.noise(48 << 10)))
                try await eventually("the budget is filled") {
                    await owner.received.contains(ChangesetMessage.type)
                }
                try await SyncClient.with(port: gateway.port, token: second.access) { client in
                    _ = try await SessionOpening.open(&client)
                    try await client.send(SessionOpening.upload(2, bytes: Self.noise(32 << 10)))
                    try await client.send(SessionOpening.upload(3))
                }
                // What is written to the client's socket finds that nobody is there.
                try await eventually("the gateway has heard that the client is gone") {
                    try await owner.publish([1, 2, 3], to: SessionOpening.realm)
                    return await owner.unbinds.contains { $0.realm == SessionOpening.realm }
                }
                await expectEqual(owner.received.filter { $0 == ChangesetMessage.type }.count, 1)
            }
        }
    }
}
