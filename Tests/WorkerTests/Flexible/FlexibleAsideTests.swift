import Changesets
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Merges of a flexible realm that take long go on beside the slice, as others do.
@Suite(.hangGuard) struct FlexibleAsideTests {
    private typealias Items = FlexibleItems

    /// Changesets after a property that the upload adds are judged by themselves: they wait, and those before are in
    /// the books.
    @Test func changesetsBeforeAMergeThatWaitsAreCommitted() async throws {
        let pool = AsidePool(limit: 1)
        var limits = WorkerLimits()
        limits.mergeStepsInSlice = 0
        let harness = try await OwnerHarness.make(
            limits: limits, merges: pool, realm: RealmName(flexible: OwnerHarness.app), takesTurns: true)
        var clients: [ViewingClient] = []
        for number in 1...2 as ClosedRange<UInt64> {
            var client = try await ViewingClient.join(
                harness, session: number, user: "u\(number)", roles: try Items.roles(reads: [0], writes: [0]))
            if number == 1 {
                try client.make(Items.schema(), at: 1)
                try await client.upload(to: harness)
            }
            try await client.download(from: harness)
            try await expectTrue(client.bootstrap(1, Items.query([0]), from: harness) == nil)
            clients.append(client)
        }
        try clients[0].write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try await clients[0].upload(to: harness)
        try await clients[1].download(from: harness)
        try clients[0].write(at: 20, Items.set(1, "a", 2))
        try await clients[0].upload(to: harness)
        try clients[1].write(at: 15, Items.create(2, .init(owner: 0, a: 5)))
        try clients[1].write(at: 16) { changeset in
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: changeset.strings.intern("Item"), field: changeset.strings.intern("b"), type: .int,
                        nullable: false, collection: .single)))
        }
        try clients[1].write(at: 30, Items.set(1, "a", 3))

        // Nobody gets a thread as long as the test holds the only one.
        var place = pool.place()
        let file = ClientFileKey(realm: try await harness.record().id, ident: clients[1].file.ident)
        let before = try #require(try await harness.store.clientFile(file)).upload.clientVersion
        let second = clients[1]
        async let uploading = upload(second, to: harness)
        while try await Items.items(harness)[2] == nil { try await Task.sleep(for: .milliseconds(2)) }
        try await expectEqual(Items.items(harness), [1: .init(owner: 0, a: 2), 2: .init(owner: 0, a: 5)])
        let halfway = try #require(try await harness.store.clientFile(file))
        expectTrue(halfway.upload.clientVersion > before)
        withExtendedLifetime(place) {}
        place = nil
        clients[1] = try await uploading
        try await expectEqual(Items.items(harness), [1: .init(owner: 0, a: 3), 2: .init(owner: 0, a: 5)])
        try await clients[1].download(from: harness)
        expectEqual(Items.items(clients[1].state), (try await Items.items(harness)))
    }

    private func upload(_ client: ViewingClient, to harness: OwnerHarness) async throws -> ViewingClient {
        var client = client
        try await client.upload(to: harness)
        return client
    }
}
