import Changesets
import SyncModel
import Testing

@testable import Worker

/// The data of subscription sets, page by page.
@Suite struct BootstrapTests {
    private typealias Items = FlexibleItems

    private func owner(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
        var client = try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
        if session == 1 {
            try client.make(Items.schema(), at: 1)
            try await client.upload(to: harness)
        }
        try await client.download(from: harness)
        return client
    }

    @Test func whatCameOfASetBeforeTheConnectionWasLostIsForgottenFirst() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        #expect(try await writer.bootstrap(1, Items.query([0, 2]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try writer.write(at: 11, Items.create(2, .init(owner: 0, a: 2)))
        try await writer.upload(to: harness)

        var reader = try await owner(harness, 2)
        // The first page has object 1; then the connection is lost.
        #expect(
            try await reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 1, between: { false }) == nil)
        try writer.write(at: 12, Items.set(1, "owner", 2))
        try await writer.upload(to: harness)

        try await reader.connect(to: harness, session: 3, user: "u2")
        #expect(try await reader.bootstrap(1, Items.query([0]), from: harness) == ViewingClient.mustReconnect)
        // Who is not sure to have heard that has to be told again.
        try await reader.connect(to: harness, session: 4, user: "u2")
        #expect(try await reader.bootstrap(1, Items.query([0]), from: harness) == ViewingClient.mustReconnect)
        try await reader.leave(harness, user: "u2")
        try await reader.connect(to: harness, session: 5, user: "u2")
        #expect(try await reader.bootstrap(1, Items.query([0]), from: harness) == nil)
        #expect(Items.items(reader.state) == [2: .init(owner: 0, a: 2)])
    }

    @Test func aSetThatIsAskedForAnewInOrderComesAtOnce() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await owner(harness, 1)
        #expect(try await writer.bootstrap(1, Items.query([0]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try await writer.upload(to: harness)
        var reader = try await owner(harness, 2)
        #expect(
            try await reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 1, between: { false }) == nil)
        try await reader.leave(harness, user: "u2")
        try await reader.connect(to: harness, session: 3, user: "u2")
        #expect(try await reader.bootstrap(1, Items.query([0]), from: harness) == nil)
        #expect(Items.items(reader.state) == [1: .init(owner: 0, a: 1)])
    }
}
