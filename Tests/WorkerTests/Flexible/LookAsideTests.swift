import AMQP
import Changesets
import Messages
import Query
import Rules
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Worker

/// What takes long of views goes on beside the slice, or in several turns: nobody but its realm waits, and nobody can tell a difference afterwards.
@Suite(.timeLimit(.minutes(5))) struct LookAsideTests {
    private typealias Items = FlexibleItems

    /// Items of owner 0, on which a set takes long, and another app's realm.
    private struct Scene {
        var harness: OwnerHarness
        let pool: AsidePool
        var writer: ViewingClient

        static func make(
            items: Int, _ change: (inout WorkerLimits) -> Void = { _ in }
        ) async throws -> Scene {
            var limits = WorkerLimits()
            change(&limits)
            let pool = AsidePool(limit: 1)
            let harness = try await OwnerHarness.make(
                limits: limits, looks: pool, realm: RealmName(flexible: OwnerHarness.app), takesTurns: true)
            try await harness.control.insert(AppRecord(id: "quiet", createdAt: 0))
            var scene = Scene(harness: harness, pool: pool, writer: try await client(harness, 1))
            try scene.writer.make(Items.schema(), at: 1)
            try await scene.writer.upload(to: harness)
            try await scene.writer.download(from: harness)
            try await expectTrue(scene.writer.bootstrap(1, Items.query([0]), from: harness) == nil)
            if items > 0 {
                for key in 1...Int64(items) {
                    try scene.writer.write(at: 10, Items.create(key, .init(owner: 0, a: key)))
                }
                try await scene.writer.upload(to: harness)
            }
            return scene
        }

        static func client(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
            try await ViewingClient.join(
                harness, session: session, user: "u\(session)", roles: try Items.roles(reads: [0, 1], writes: [0, 1]))
        }

        func client(_ session: UInt64) async throws -> ViewingClient { try await Self.client(harness, session) }

        /// The request for the first page of a set.
        func request(_ queries: String, of client: ViewingClient, version: UInt64 = 1) throws -> AMQPMessage {
            try AMQPMessage(
                PageRequest(
                    context: harness.context(client.session), clientFile: client.file.ident, generation: 1,
                    after: client.progress.download, maxBytes: 1 << 20, isMark: false,
                    bootstrap: BootstrapRequest(version: version, queries: queries, roles: client.roles)),
                correlationID: "c", replyTo: "g")
        }

        func other(_ number: UInt64) throws -> AMQPMessage {
            try AMQPMessage(
                ChangesetMessage(
                    realm: RealmName(app: "quiet", partition: "\"r\""), upload: nil,
                    entries: [UploadedChangeset(timestamp: SyncTimestamp(number), changeset: Changes.schema())]),
                id: "q\(number)")
        }

        /// Has turns go on until nothing is left.
        ///
        /// - Returns: what each turn has taken, and all that was published.
        func turns(_ messages: [AMQPMessage]) async throws -> (steps: [UInt64], published: Published) {
            var waiting = await harness.owner.read(messages)
            var steps: [UInt64] = []
            var published: [Publication] = []
            while !waiting.isEmpty, steps.count < 10_000 {
                let turn = try await harness.owner.deal(with: waiting)
                published += turn.publications
                steps.append(turn.cost)
                if turn.isIdle { try await Task.sleep(for: .milliseconds(1)) }
                waiting = turn.left.map { waiting[$0] }
                harness.time.advance(20)
            }
            return (steps, Published(published))
        }
    }

    /// Takes 8 steps a comparison.
    private static func query(_ comparisons: Int) -> String {
        #"{"Item": "\#((0..<comparisons).map { "a != \(1_000 + $0)" }.joined(separator: " and "))"}"#
    }

    /// - Parameter messages: of which the first has to wait for a look.
    /// - Returns: what was published in the end.
    private func expectOthersGoOn(
        _ scene: Scene, _ request: AMQPMessage, _ what: Comment
    ) async throws -> Published {
        // Nobody gets a thread as long as the test holds the only one.
        var place = scene.pool.place()
        let messages = try await scene.harness.owner.read([request] + (1...2).map { try scene.other($0) })
        try await expectEqual(scene.harness.owner.deal(with: messages).left, [0], what)
        for number in 3..<6 as Range<UInt64> {
            let others = try await scene.harness.owner.read([scene.other(number)])
            try await expectEqual(scene.harness.owner.deal(with: [messages[0]] + others).left, [0], what)
        }
        let rest = try await scene.harness.owner.deal(with: [messages[0]])
        expectTrue(rest.isIdle && rest.left == [0], what)
        withExtendedLifetime(place) {}
        place = nil
        let (_, published) = try await scene.turns([request])
        expectTrue(scene.pool.hasRoom, what)
        return published
    }

    private func expectPage(_ published: Published, _ what: Comment) throws {
        let answer = try published.one(PageAnswer.self)
        expectTrue(!answer.entries.isEmpty || answer.view?.bootstrap?.outcome == .last, what)
    }

    @Test func othersGoOnWhileAnObjectIsTried() async throws {
        let scene = try await Scene.make(items: 1) { $0.evaluation.stepsPerTrialInSlice = 500 }
        let client = try await scene.client(2)
        try await expectPage(
            expectOthersGoOn(scene, scene.request(Self.query(100), of: client), "one trial"), "one trial")
    }

    /// Nothing but the role decides whether an object may be made: no query is asked.
    @Test func othersGoOnWhileARoleIsAsked() async throws {
        let scene = try await Scene.make(items: 0) { $0.evaluation.stepsPerTrialInSlice = 500 }
        let conditions = (0..<100).map { #"{"a": {"$ne": \#(1_000 + $0)}}"# }.joined(separator: ", ")
        let rules = RulesCheck(
            Array(
                #"""
                {"queryable": {"global": ["owner", "a"]}, "defaultRoles": [{"name": "r", "apply_when": {}, "read": true, "write": true,
                 "document_filters": {"read": true, "write": {"$and": [\#(conditions)]}}}]}
                """#.utf8))
        let roles = try #require(rules.document, "\(rules.findings)").closedRoles(of: RuleUser(id: "u2")).text
        var client = try await ViewingClient.join(scene.harness, session: 2, user: "u2", roles: roles)
        try await client.download(from: scene.harness)
        try await expectTrue(client.bootstrap(1, Items.query([0]), from: scene.harness) == nil)
        try client.write(at: 20, Items.create(1, .init(owner: 0, a: 1)))
        let written = client.nextUpload()
        let upload = try #require(written)
        let message = try AMQPMessage(
            ChangesetMessage(
                realm: scene.harness.realm,
                upload: .init(
                    session: SessionReference(gateway: "g", number: client.session), clientFile: client.file.ident,
                    generation: 1, follows: 0, progress: upload.progress,
                    lockedServerVersion: upload.lockedServerVersion, rights: scene.harness.rights),
                entries: upload.entries), id: "u")
        let published = try await expectOthersGoOn(scene, message, "a role")
        try expectTrue(published.every(RefusedAnswer.self).isEmpty)
        try await expectEqual(Items.items(scene.harness), Items.items(client.state))
    }

    @Test func othersGoOnWhileASetIsRead() async throws {
        let scene = try await Scene.make(items: 1) { $0.evaluation.bytesReadInSlice = 400 }
        let client = try await scene.client(2)
        try await expectPage(
            expectOthersGoOn(scene, scene.request(Self.query(40), of: client), "a set"), "a set")
        // Read once, it is there for the next client.
        let next = try await scene.client(3)
        let place = scene.pool.place()
        let (_, published) = try await scene.turns([scene.request(Self.query(40), of: next)])
        expectTrue(try published.one(PageAnswer.self).entries.count > 0)
        withExtendedLifetime(place) {}
    }

    /// A set that cannot be read is refused as ever.
    @Test func aBadSetThatIsLongIsRefused() async throws {
        let scene = try await Scene.make(items: 1) { $0.evaluation.bytesReadInSlice = 10 }
        var client = try await scene.client(2)
        let refusal = try await client.bootstrap(1, #"{"Item": "a == 1 and nothing == 2"}"#, from: scene.harness)
        expectTrue(refusal?.contains("nothing") == true, "\(refusal ?? "")")
        try await expectTrue(client.bootstrap(2, Items.query([0]), from: scene.harness) == nil)
        expectEqual(Items.items(client.state).count, 1)
    }

    /// What a client has missed takes long in all, though no object does.
    @Test func whatAClientHasMissedIsToldInTurns() async throws {
        var scene = try await Scene.make(items: 1) {
            $0.evaluation.stepsPerTrialInSlice = 1_000
            $0.evaluation.stepsInSlice = 4_000
            $0.evaluation.stepsRemembered = 100
        }
        var client = try await scene.client(2)
        try await expectTrue(client.bootstrap(1, Self.query(100), from: scene.harness) == nil)
        for key in 2...60 as ClosedRange<Int64> {
            try scene.writer.write(at: 20, Items.create(key, .init(owner: 0, a: key)))
        }
        try await scene.writer.upload(to: scene.harness)
        let request = PageRequest(
            context: scene.harness.context(client.session), clientFile: client.file.ident, generation: 1,
            after: client.progress.download, maxBytes: 1 << 20, isMark: false)
        let (steps, published) = try await scene.turns([AMQPMessage(request, correlationID: "c", replyTo: "g")])
        try expectEqual(published.one(PageAnswer.self).entries.count, 59)
        // The first one pays for the commit before, too.
        expectTrue(steps.count > 10 && steps.dropFirst().allSatisfy { $0 <= 5_000 }, "\(steps)")
    }

    /// Judging an upload takes long in all; it is integrated once, with all of it.
    @Test func anUploadIsJudgedInTurns() async throws {
        let scene = try await Scene.make(items: 0) {
            $0.evaluation.stepsPerTrialInSlice = 1_000
            $0.evaluation.stepsInSlice = 4_000
            $0.evaluation.stepsRemembered = 100
        }
        var client = try await scene.client(2)
        try await client.download(from: scene.harness)
        try await expectTrue(client.bootstrap(1, Self.query(100), from: scene.harness) == nil)
        let before = try await scene.harness.record().latest.version
        for key in 1...50 as ClosedRange<Int64> {
            try client.write(at: 20, Items.create(key, .init(owner: 0, a: key)))
        }
        try await client.upload(to: scene.harness)
        try await expectEqual(scene.harness.record().latest.version, before + 50)
        try await expectEqual(Items.items(scene.harness), Items.items(client.state))
    }
}
