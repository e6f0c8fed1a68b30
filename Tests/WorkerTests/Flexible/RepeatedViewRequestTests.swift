import Changesets
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Requests of a flexible client's sessions that come a second time: delivered again, published again, or sent anew since the answer was
/// late. What a client is taken to hold decides what it is sent, so none of them may change that behind its back.
@Suite(.hangGuard) struct RepeatedViewRequestTests {
    private typealias Items = FlexibleItems

    /// A reader of the items of owners 0, 1 and 2, of which there are one each.
    private struct Scene {
        var harness: OwnerHarness
        var writer: ViewingClient
        var reader: ViewingClient

        static func make() async throws -> Scene {
            let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
            let all = try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2])
            var writer = try await ViewingClient.join(harness, session: 1, user: "u1", roles: all)
            try writer.make(Items.schema(), at: 1)
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            try await expectTrue(writer.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
            for key in 0...2 as ClosedRange<Int64> {
                try writer.write(at: 10, Items.create(key, .init(owner: key, a: 1)))
            }
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            var reader = try await ViewingClient.join(harness, session: 2, user: "u2", roles: all)
            try await reader.download(from: harness)
            return Scene(harness: harness, writer: writer, reader: reader)
        }

        /// The slice's next owner, which has heard of no session.
        mutating func changeOwner() async throws {
            harness = try await OwnerHarness.make(on: harness.store, control: harness.control, realm: harness.realm)
        }

        func row() async throws -> ClientFileRecord? {
            try await harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: reader.file.ident))
        }

        /// How the reader presents itself now.
        func identifyRequest(session: UInt64) -> IdentifyRequest {
            var request = harness.identifyRequest(
                reader.file, session: session, user: "u2", download: reader.progress.download,
                latest: reader.progress.latest)
            request.view = reader.active
            request.view?.roles = reader.roles
            return request
        }

        /// How the reader asks for a set's data now.
        func pageRequest(
            _ version: UInt64, _ queries: String, maxBytes: Int = 1 << 20, after position: BootstrapPosition? = nil
        ) -> PageRequest {
            PageRequest(
                context: harness.context(reader.session), clientFile: reader.file.ident, generation: 1,
                after: reader.position, maxBytes: maxBytes, isMark: false,
                bootstrap: BootstrapRequest(
                    version: version, queries: queries, roles: reader.roles, position: position))
        }

        func outcome(of request: PageRequest) async throws -> BootstrapPart.Outcome? {
            try await harness.send(request).one(PageAnswer.self).view?.bootstrap?.outcome
        }

        /// Asks for all pages of a set's data, none of which reaches the reader.
        ///
        /// - Returns: the requests for the first and the last.
        func lose(_ version: UInt64, _ queries: String) async throws -> (first: PageRequest, last: PageRequest) {
            let first = pageRequest(version, queries)
            var last = first
            while case .more(let position) = try await outcome(of: last) { last.bootstrap?.position = position }
            expectTrue(last.bootstrap?.position != nil)
            return (first, last)
        }

        /// Somebody changes all items, and the reader has what it may have of that.
        mutating func expectsToGoOn(_ readable: Set<Int64>) async throws {
            for key in 0...2 as ClosedRange<Int64> { try writer.write(at: 50, Items.set(key, "a", 5)) }
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            try await reader.download(from: harness)
            expectEqual(
                Items.items(reader.state), (try await Items.items(harness)).filter { readable.contains($0.value.owner) }
            )
        }
    }

    // MARK: IDENT

    /// A BIND and an IDENT, published a second time when the client has been sent what its new roles show: an owner that knows nothing of
    /// the session would take the client for one that still has what its old roles showed.
    @Test(arguments: [false, true]) func anOldIdentTakesNoViewBack(comesWithItsBind: Bool) async throws {
        var scene = try await Scene.make()
        try await expectTrue(scene.reader.bootstrap(1, Items.query([0, 1, 2]), from: scene.harness) == nil)
        scene.reader.roles = try Items.roles(reads: [0, 1], writes: [])
        let old = scene.identifyRequest(session: 3)
        let bind = scene.harness.bindRequest(session: 3, user: "u2", needsIdent: false)
        try await scene.reader.connect(to: scene.harness, session: 3, user: "u2")
        expectEqual(Items.items(scene.reader.state).keys.sorted(), [0, 1])

        try await scene.changeOwner()
        let before = try await scene.row()
        if comesWithItsBind { _ = try await scene.harness.send(bind).one(BoundAnswer.self) }
        let published = try await scene.harness.send(old)
        // The gateway keeps silent, since the session was answered long ago.
        expectEqual(published.all.count, 1)
        _ = try published.one(ConfirmAnswer.self)
        try await expectEqual(scene.row(), before)
        try await scene.expectsToGoOn([0, 1])
    }

    /// The client has lost the page with which it would have had its new set, and its gateway says so. It may have those before: it is told to come
    /// once more, with nothing.
    @Test func aClientThatHasNotGotItsSetIsBelievedOnceItsGatewayHasConfirmed() async throws {
        var scene = try await Scene.make()
        _ = try await scene.lose(1, Items.query([0, 1]))
        _ = try await scene.harness.send(scene.harness.bindRequest(session: 3, user: "u2", needsIdent: false))
        let request = scene.identifyRequest(session: 3)
        let question = try await scene.harness.send(request).one(ConfirmAnswer.self).question
        var confirmed = request
        confirmed.confirms = question
        _ = try await scene.harness.send(confirmed).one(IdentifiedAnswer.self)
        scene.reader.session = 3
        let refusal = try await scene.reader.bootstrap(1, Items.query([0, 1]), from: scene.harness)
        expectEqual(refusal, ViewingClient.mustReconnect)
        try await scene.reader.leave(scene.harness, user: "u2")
        try await scene.reader.connect(to: scene.harness, session: 4, user: "u2")
        try await expectTrue(scene.reader.bootstrap(1, Items.query([0, 1]), from: scene.harness) == nil)
        try await scene.expectsToGoOn([0, 1])
    }

    // MARK: Pages

    /// The answer was lost, so the gateway asks again; or the request was published twice.
    @Test(arguments: [false, true], [false, true])
    func noPageOfASetIsEmptyTheSecondTime(isLast: Bool, atANewOwner: Bool) async throws {
        var scene = try await Scene.make()
        let requests = try await scene.lose(1, Items.query([0, 1]))
        if atANewOwner { try await scene.changeOwner() }
        let before = try await scene.row()
        // Whether the client has the data only its next IDENT tells.
        try await expectEqual(scene.outcome(of: isLast ? requests.last : requests.first), .begunElsewhere)
        try await expectEqual(scene.row(), before)
        try await scene.reader.leave(scene.harness, user: "u2")
        try await scene.reader.connect(to: scene.harness, session: 3, user: "u2")
        try await expectTrue(scene.reader.bootstrap(1, Items.query([0, 1]), from: scene.harness) == nil)
        expectEqual(Items.items(scene.reader.state).keys.sorted(), [0, 1])
        try await scene.expectsToGoOn([0, 1])
    }

    /// A further page of a session that has ended, when its client is being sent the same set in another one.
    @Test func aPageOfAnotherSessionCountsForNothing() async throws {
        var scene = try await Scene.make()
        var old = scene.pageRequest(1, Items.query([0, 1]), maxBytes: 1)
        guard case .more(let position) = try await scene.outcome(of: old) else {
            Issue.record("the set has more than one page")
            return
        }
        old.bootstrap?.position = position
        try await scene.reader.leave(scene.harness, user: "u2")
        try await scene.changeOwner()
        try await scene.reader.connect(to: scene.harness, session: 3, user: "u2")
        let harness = scene.harness
        var isFirst = true
        let refusal = try await scene.reader.bootstrap(1, Items.query([0, 1]), from: harness, maxBytes: 1) {
            if isFirst {
                let answer = try await harness.send(old).one(PageAnswer.self)
                expectEqual(answer.view?.bootstrap?.outcome, .begunElsewhere)
            }
            isFirst = false
            return true
        }
        expectTrue(refusal == nil && !isFirst)
        expectEqual(Items.items(scene.reader.state).keys.sorted(), [0, 1])
        try await scene.expectsToGoOn([0, 1])
    }

    /// Set 0 is where a client begins: asked for once more, it would have the client begin again with everything it has.
    @Test(arguments: [0, 1] as [UInt64]) func aSetFromBeforeTheOneInForceCountsForNothing(version: UInt64) async throws
    {
        var scene = try await Scene.make()
        try await expectTrue(scene.reader.bootstrap(1, Items.query([0, 1]), from: scene.harness) == nil)
        let old = scene.pageRequest(version, version == 0 ? "{}" : Items.query([0, 1]))
        try await expectTrue(scene.reader.bootstrap(2, Items.query([1, 2]), from: scene.harness) == nil)
        try await scene.changeOwner()
        let before = try await scene.row()
        try await expectEqual(scene.outcome(of: old), .begunElsewhere)
        try await expectEqual(scene.row(), before)
        try await scene.expectsToGoOn([1, 2])
    }
}
