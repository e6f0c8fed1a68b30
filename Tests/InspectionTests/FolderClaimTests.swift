import AMQP
import Logging
import Messages
import TestSupport
import Testing

@testable import StorageSQLite

/// Processes that have the embedded store in different folders do not work together.
@Suite(.needsBroker, .hangGuard) struct FolderClaimTests {
    /// Short, so that the broker's refusal has room for both folders.
    private let topology = Topology(prefix: "f\(UInt32.random(in: 0 ... .max))")

    /// A process's own connection, which has entered the cluster.
    private func enter(
        _ broker: BrokerHarness, _ folder: String, patience: Duration = .seconds(1), isMarked: Bool = false
    ) async throws -> AMQPConnection {
        let connection = AMQPConnection(
            configuration: try AMQPConfiguration(url: try TestBroker.requireURL()), logger: Logger(label: "test"))
        try await connection.start()
        let gate = BrokerGate(
            mark: BrokerMark(broker.topology, cluster: "aa"), place: "the test's broker",
            folder: FolderClaim(topology, folder: folder, patience: patience), wasMarked: { isMarked },
            didMark: {})
        do {
            try await gate.enter(connection, try await connection.openChannel())
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    @Test func anotherFolderIsRefusedWithBothNames() async throws {
        try await BrokerHarness.with { broker in
            let first = try await enter(broker, "host-a/0011")
            let same = try await enter(broker, "host-a/0011")
            let refused = await #expect(throws: ForeignBroker.self) { _ = try await enter(broker, "host-b/2233") }
            let words = "\(refused.map(\.description) ?? "")"
            expectTrue(words.contains("host-a/0011") && words.contains("host-b/2233") && words.contains("store copy"))
            // As long as one of them is there.
            await first.close()
            await #expect(throws: ForeignBroker.self) { _ = try await enter(broker, "host-b/2233") }
            await same.close()
            let other = try await enter(broker, "host-b/2233", patience: .seconds(30))
            await other.close()
        }
    }

    @Test func aMachineThatIsGoneIsWaitedOut() async throws {
        try await BrokerHarness.with { broker in
            let first = try await enter(broker, "host-a/0011")
            async let second = enter(broker, "host-b/2233", patience: .seconds(30))
            // A process that does not wait is refused meanwhile.
            await #expect(throws: ForeignBroker.self) { _ = try await enter(broker, "host-b/2233") }
            await first.close()
            await (try await second).close()
        }
    }

    @Test func theSameHoldsWhereTheClusterHasMarkedItsBroker() async throws {
        try await BrokerHarness.with { broker in
            let first = try await enter(broker, "host-a/0011")
            let second = try await enter(broker, "host-a/0011")
            await first.close()
            await #expect(throws: ForeignBroker.self) { _ = try await enter(broker, "host-b/2233", isMarked: true) }
            await second.close()
        }
    }

    @Test func aFolderIsItselfOnOneBootOfOneMachineOnly() {
        let folder = StoreFolder(boot: "0a1b2c3d-4e5f", device: 8, file: 12)
        expectTrue(folder.name.hasPrefix("0a1b2c3d/") && folder.name.utf8.count == 21)
        expectEqual(folder, StoreFolder(boot: "0a1b2c3d-4e5f", device: 8, file: 12))
        for other in [
            StoreFolder(boot: "0a1b2c3d-4e60", device: 8, file: 12),
            StoreFolder(boot: "0a1b2c3d-4e5f", device: 9, file: 12),
            StoreFolder(boot: "0a1b2c3d-4e5f", device: 8, file: 13),
        ] { expectTrue(other != folder) }
        expectTrue(StoreFolder(boot: "it's \u{e4}", device: 8, file: 12).name.hasPrefix("it-s--/"))
    }
}
