import Changesets
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// Subscription sets that cannot be views: each is refused with its reason, its session goes on, and nobody else notices.
@Suite(.hangGuard) struct BadSubscriptionTests {
    private typealias Items = FlexibleItems

    private func client(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
        try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
    }

    /// A writer of owner 0's items, and another client.
    private func scene() async throws -> (harness: OwnerHarness, writer: ViewingClient, other: ViewingClient) {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await client(harness, 1)
        try writer.make(Items.schema(), at: 1)
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        try await expectTrue(writer.bootstrap(1, Items.query([0]), from: harness) == nil)
        try writer.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try await writer.upload(to: harness)
        var other = try await client(harness, 2)
        try await expectTrue(other.bootstrap(1, Items.query([0]), from: harness) == nil)
        return (harness, writer, other)
    }

    private static func item(_ query: String) -> String { #"{"Item": "\#(query)"}"# }

    static let bad: [(name: String, queries: String, reason: String)] = [
        ("no JSON", "{", "no valid JSON"), ("no object", "[1]", "no JSON object"),
        ("no query", #"{"Item": 5}"#, "expected a query in a string"),
        ("unknown class", #"{"Nothing": "TRUEPREDICATE"}"#, "there is no class \"Nothing\""),
        ("unknown field", item("nothing == 1"), "nothing"), ("syntax", item("owner =="), "class \"Item\""),
        ("an operator that there is not", item("owner ~ 3"), "class \"Item\""),
        ("another type", item("owner == 'x'"), "class \"Item\""),
        ("sorted", item("owner == 1 SORT(owner ASC)"), "SORT"), ("limited", item("owner == 1 LIMIT(1)"), "LIMIT"),
        ("backlinks", item("@links.@count > 0"), "@links"),
        ("257 kB", item("owner == 1 or a == \(String(repeating: "1", count: 257 << 10))"), "262144 allowed"),
        (
            "a million terms", item(Array(repeating: "a==1", count: 1_000_000).joined(separator: "||")),
            "262144 allowed"
        ),
        (
            "deep", item(String(repeating: "(", count: 5_000) + "a == 1" + String(repeating: ")", count: 5_000)),
            "100 levels"
        ),
        (
            "many classes",
            "{" + (0..<1_001).map { #""C\#($0)": "TRUEPREDICATE""# }.joined(separator: ", ") + "}", "1000 allowed"
        ),
    ]

    @Test(arguments: bad.indices) func aBadSetIsRefusedAndItsSessionLives(_ index: Int) async throws {
        let (name, queries, reason) = Self.bad[index]
        var (harness, writer, other) = try await scene()
        let refusal = try #require(try await other.bootstrap(2, queries, from: harness), "\(name)")
        expectTrue(refusal.contains(reason), "\(name): \(refusal.prefix(300))")
        expectTrue(refusal.utf8.count < 2_000)
        // The set before is in force: in the same session it goes on.
        try writer.write(at: 20, Items.set(1, "a", 2))
        try await writer.upload(to: harness)
        try await other.download(from: harness)
        expectEqual(Items.items(other.state), [1: .init(owner: 0, a: 2)])
        try other.write(at: 30, Items.set(1, "a", 3))
        try await other.upload(to: harness)
        try await writer.download(from: harness)
        expectEqual(Items.items(writer.state), [1: .init(owner: 0, a: 3)])
        expectTrue(writer.sessionsEnded == 0 && other.sessionsEnded == 0 && other.told.isEmpty)
        // And a good one comes.
        try await expectTrue(other.bootstrap(3, Items.query([0, 1]), from: harness) == nil)
    }

    /// A thousand sets: as many as are confirmed by uploads count, and no more are remembered than there is room for.
    @Test(arguments: [true, false]) func aThousandSetsOneAfterTheOther(confirms: Bool) async throws {
        var (harness, writer, other) = try await scene()
        var refusals: [String] = []
        let pages = writer.pages
        for version in 2...1_001 as ClosedRange<UInt64> {
            if let refusal = try await other.bootstrap(
                version, Items.query(version.isMultiple(of: 2) ? [1] : [0, 1]), from: harness)
            {
                refusals.append(refusal)
            }
            if version.isMultiple(of: 100) {
                try writer.write(at: SyncTimestamp(100 + version), Items.set(1, "a", Int64(version)))
                try await writer.upload(to: harness)
                try await writer.download(from: harness)
            }
            if confirms { try await other.upload(to: harness) }
        }
        expectEqual(refusals.isEmpty, confirms)
        expectTrue(refusals.allSatisfy { $0.contains("that its uploads do not confirm yet") })
        let row = try #require(
            try await harness.store.clientFile(.init(realm: try await harness.record().id, ident: other.file.ident)))
        expectTrue(row.views.count < 1 << 20)
        // The session lives, and the client is served once it has confirmed what it has.
        try await other.upload(to: harness)
        try await expectTrue(other.bootstrap(2_000, Items.query([0]), from: harness) == nil)
        expectEqual(Items.items(other.state), [1: .init(owner: 0, a: 1_000)])
        expectTrue(Items.items(writer.state) == Items.items(other.state) && writer.pages == pages)
    }

    /// A client that does not say how far it is may ask for no more sets, but is still sent what new roles show of the one that it has.
    @Test func newRolesOfTheSetInForceHaveMoreRoomThanNewSets() async throws {
        var (harness, writer, other) = try await scene()
        for change in 1...300 as ClosedRange<UInt64> {
            other.roles = try Items.roles(reads: change.isMultiple(of: 2) ? [0, 1, 2] : [1, 2], writes: [])
            try await expectTrue(other.connect(to: harness, session: 1_000 + change, user: "u2"))
        }
        expectEqual(Items.items(other.state), [1: .init(owner: 0, a: 1)])
        let refusal = try #require(try await other.bootstrap(2, Items.query([1]), from: harness))
        expectTrue(refusal.contains("that its uploads do not confirm yet"))
        try writer.write(at: 20, Items.set(1, "a", 2))
        try await writer.upload(to: harness)
        try await other.download(from: harness)
        expectEqual(Items.items(other.state), [1: .init(owner: 0, a: 2)])
        try await other.upload(to: harness)
        try await expectTrue(other.bootstrap(3, Items.query([0, 1]), from: harness) == nil)
    }
}
