import Changesets
import Messages
import RealmState
import Storage
import StorageSupport
import SyncModel
import Synchronization
import TestSupport
import Testing
import Views

@testable import Worker

/// Subscription sets are held to what the app's rules name as queryable.
@Suite(.hangGuard) struct QueryableFieldsTests {
    private typealias Items = FlexibleItems

    /// A client of an app with some queryable properties, without development mode.
    private func scene(
        _ queryable: String, developmentMode: Bool = false
    ) async throws -> (harness: OwnerHarness, client: ViewingClient) {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        try await set(queryable, in: harness)
        var client = try await join(harness, 1)
        try client.make(Items.schema(), at: 1)
        try await client.upload(to: harness)
        try await client.download(from: harness)
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.developmentMode = developmentMode }
        return (harness, client)
    }

    /// - Parameter queryable: JSON; empty: the rules say nothing of it.
    private func set(_ queryable: String, in harness: OwnerHarness) async throws {
        let version = try await harness.control.setRules(
            #"{"defaultRoles":"readAndWriteAll"\#(queryable.isEmpty ? "" : ",\"queryable\":\(queryable)")}"#,
            of: OwnerHarness.app)
        harness.rulesVersion.withLock { $0 = version }
    }

    private func join(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
        try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
    }

    private static func item(_ query: String) -> String { #"{"Item": "\#(query)"}"# }

    @Test func aSetByWhatIsNotQueryableIsRefusedAndTheSessionGoesOn() async throws {
        var (harness, client) = try await scene(#"{"global": ["owner"]}"#)
        let refusal = try #require(try await client.bootstrap(1, Self.item("a == 1 and owner == 0"), from: harness))
        expectTrue(refusal.hasPrefix("Invalid query: \"Item\": key \"a\" is not a queryable field"))
        try await expectTrue(client.bootstrap(2, Self.item("_id == 1 or owner == 0"), from: harness) == nil)
        try client.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try await client.upload(to: harness)
        try await client.download(from: harness)
        expectTrue(client.told.isEmpty && client.sessionsEnded == 0)
        // Nothing is kept of what was refused.
        let imaged = try ImagedColumns(decoding: try await harness.record().imaged)
        let table = try #require(try Schema(decoding: try await harness.record().schema).table("Item"))
        expectEqual(imaged.columns(of: table.id, at: 1_000), [try #require(table.column("owner")?.id)])
    }

    @Test func eachQueryNamesTheIndexedProperty() async throws {
        var (harness, client) = try await scene(#"{"global": ["a"], "indexed": "owner"}"#)
        let refusal = try #require(try await client.bootstrap(1, Self.item("a == 1"), from: harness))
        expectTrue(refusal.contains("must compare the indexed queryable field \"owner\""))
        try await expectTrue(
            client.bootstrap(2, Self.item("(owner == 0 and a == 1) or (owner == 1)"), from: harness) == nil)
    }

    /// A client that has a set keeps it, whatever the rules say by now; a new one must be by what is queryable.
    @Test func aSetInForceOutlivesTheRulesItWasTakenUnder() async throws {
        var (harness, client) = try await scene(#"{"global": ["owner", "a"]}"#)
        try await expectTrue(client.bootstrap(1, Self.item("a < 5"), from: harness) == nil)
        try client.write(at: 10, Items.create(1, .init(owner: 0, a: 1)))
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await set(#"{"global": ["owner"]}"#, in: harness)
        try await client.connect(to: harness, session: 2, user: "u1")
        try client.write(at: 20, Items.set(1, "a", 2))
        try await client.upload(to: harness)
        try await client.download(from: harness)
        expectTrue(Items.items(client.state) == [1: .init(owner: 0, a: 2)] && client.told.isEmpty)
        // Also when what its user may do has changed.
        client.roles = try Items.roles(reads: [0], writes: [0])
        try await client.connect(to: harness, session: 3, user: "u1")
        expectEqual(Items.items(client.state), [1: .init(owner: 0, a: 2)])
        try await expectEqual(client.bootstrap(2, Self.item("a < 6"), from: harness)?.contains("\"a\" is not"), true)
        try await expectTrue(client.bootstrap(3, Self.item("owner == 0"), from: harness) == nil)
    }

    /// A client does not get a set that it was never sent by saying that it has it.
    @Test func aSetThatNobodyTookIsRefusedAtIdent() async throws {
        let (harness, client) = try await scene(#"{"global": ["owner"]}"#)
        _ = try await harness.send(harness.bindRequest(session: 2, user: "u1", needsIdent: false)).one(BoundAnswer.self)
        var request = harness.identifyRequest(
            client.file, session: 2, user: "u1", download: client.progress.download, latest: client.progress.latest)
        request.view = ViewDefinition(version: 4, queries: Self.item("a == 1"), roles: client.roles)
        var published = try await harness.send(request)
        if let asked = try published.every(ConfirmAnswer.self).first {
            request.confirms = asked.question
            published = try await harness.send(request)
        }
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 226 && refusal.action == "ApplicationBug")
        expectTrue(refusal.message.contains("key \"a\" is not a queryable field"))
    }

    /// What a gateway has heard of first counts for the owner, too.
    @Test func rulesThatJustCameIntoForceCount() async throws {
        let first = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        let apps = AppDirectory(store: first.apps, lifetime: .seconds(3600))
        let harness = try await OwnerHarness.make(control: first.control, apps: apps, realm: first.realm)
        try await set(#"{"global": ["owner"]}"#, in: harness)
        var client = try await join(harness, 1)
        try client.make(Items.schema(), at: 1)
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await expectTrue(client.bootstrap(1, Self.item("owner == 0"), from: harness) == nil)
        try await set(#"{"global": ["owner", "a"]}"#, in: harness)
        try await expectTrue(client.bootstrap(2, Self.item("a == 0"), from: harness) == nil)
    }

    @Test(arguments: ["", #"{"global": ["owner"], "classes": {}}"#])
    func inDevelopmentModeWhatIsAskedForIsReported(queryable: String) async throws {
        var (harness, client) = try await scene(queryable, developmentMode: true)
        try await expectTrue(client.bootstrap(1, Self.item("a == 1 and _id > 0"), from: harness) == nil)
        let report = QueriedReport(
            app: OwnerHarness.app, fields: ["Item": ["a"]], user: "u1", clientFile: client.file.ident)
        expectEqual(client.queried, [report])
        // Once it is queryable there is nothing to say, in whichever mode.
        try await set(#"{"global": ["owner"], "classes": {"Item": ["a"]}}"#, in: harness)
        try await expectTrue(client.bootstrap(2, Self.item("a == 2"), from: harness) == nil)
        expectEqual(client.queried, [report])
    }

    @Test func rulesThatNameAllThereIsHoldInDevelopmentModeToo() async throws {
        var (harness, client) = try await scene(#"{"global": []}"#, developmentMode: true)
        try await expectEqual(
            client.bootstrap(1, Self.item("a == 1"), from: harness)?.contains("\"a\" is not a queryable"), true)
        expectTrue(client.queried.isEmpty)
    }
}
