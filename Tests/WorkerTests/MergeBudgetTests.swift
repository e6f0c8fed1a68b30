import AMQP
import Changesets
import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// What merging one upload may take is bounded, by work and not by time.
@Suite(.hangGuard) struct MergeBudgetTests {
    /// A realm with a list of four tags, which a first client has moved about.
    private struct Scene {
        let harness: OwnerHarness
        let a: ClientFileIdent
        let b: ClientFileIdent
        let store: CountingStore

        static func make(budget: UInt64, moves: Int = 200) async throws -> Scene {
            let store = CountingStore()
            let harness = try await OwnerHarness.make(limits: limits(budget), on: store)
            let a = try await harness.join(session: 1)
            let b = try await harness.join(session: 2)
            let tags = (0..<4 as Range<UInt32>).map { Changes.insertTag(1, "t", at: $0, of: $0) }
            try await harness.send(harness.upload(a, [Changes.schema(), Changes.create(1)] + tags))
            try await harness.send(
                harness.upload(
                    a, follows: 6, base: 6, timestamp: 2_000, [Changes.swapTags(1, first: 0, times: moves, of: 4)]))
            return Scene(harness: harness, a: a, b: b, store: store)
        }

        static func limits(_ budget: UInt64) -> WorkerLimits {
            var limits = WorkerLimits()
            limits.mergeStepsPerUpload = budget
            return limits
        }

        /// Returns an upload whose merge is as dear as the moves of both clients multiplied.
        func dear(moves: Int = 200) throws -> AMQPMessage {
            try AMQPMessage(
                harness.upload(
                    b, session: 2, base: 6, timestamp: 3_000, [Changes.swapTags(1, first: 2, times: moves, of: 4)]))
        }
    }

    @Test func anUploadThatTakesTooMuchIsCutOffAndItsClientReset() async throws {
        let scene = try await Scene.make(budget: 80_000)
        let published = try await scene.harness.send([scene.dear()])
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == .badChangeset && refusal.action == .clientReset && refusal.session.number == 2)
        expectEqual(refusal.integrated, 0)
        expectTrue(refusal.message.contains("80000 steps") && refusal.message.contains("worker.upload_merge_steps"))
        expectEqual(published.dead.count, 1)
        let reason = published.dead.first?.properties.headers[DeadLetter.reasonHeader]?.stringValue
        expectEqual(reason?.contains("from version 0 to 7"), true)
        // Nothing of it is in the history, and the others go on.
        try await expectEqual(scene.harness.record().latest.version, 7)
        let activity = scene.harness.owner.activity(at: scene.harness.time.now())
        expectTrue(
            activity?.refusals == [.init(app: OwnerHarness.app, merges: 1)] && activity?.apps.first?.changesets == 7)
        let notice = try await scene.harness.send(
            scene.harness.upload(scene.a, follows: 7, base: 7, [Changes.set(1, title: "on")])
        ).one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 8)
        // A repetition finds its client reset: nothing is merged or set aside again.
        let again = try await scene.harness.send([scene.dear()])
        expectTrue(again.dead.isEmpty)
        try expectEqual(again.one(RefusedAnswer.self).clientFile, scene.b.ident)
    }

    @Test func theSameUploadIsWithinALargerBudget() async throws {
        let scene = try await Scene.make(budget: 200_000)
        let notice = try await scene.harness.send([scene.dear()]).one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 8)
    }

    /// The next owner counts as the first one did.
    @Test(arguments: [80_000, 200_000] as [UInt64])
    func theNextOwnerDecidesAlike(budget: UInt64) async throws {
        let scene = try await Scene.make(budget: budget)
        scene.store.commitsLeft.withLock { $0 = 0 }
        await #expect(throws: StoreError.self) { try await scene.harness.send([scene.dear()]) }
        scene.store.commitsLeft.withLock { $0 = nil }
        let next = try await OwnerHarness.make(limits: Scene.limits(budget), on: scene.store)
        let published = try await next.send([scene.dear()])
        try expectEqual(published.every(RefusedAnswer.self).count, (budget == 80_000 ? 1 : 0))
        try expectEqual(published.every(IntegratedNotice.self).count, (budget == 80_000 ? 0 : 1))
    }

    /// Cancelling the task ends a merge that goes on, and leaves the message for the next owner.
    @Test func aStopDoesNotWaitForAMerge() async throws {
        let scene = try await Scene.make(budget: .max, moves: 20_000)
        let dear = try scene.dear(moves: 20_000)
        let owner = scene.harness.owner
        // On a busy machine what is read before the merge may be what is cancelled, as the store says.
        var error: (any Error)?
        var wait = Duration.milliseconds(300)
        repeat {
            let merge = Task { try await owner.process([dear]) }
            try await Task.sleep(for: wait)
            merge.cancel()
            error = await #expect(throws: (any Error).self) { try await merge.value }
            wait *= 2
        } while (error as? StoreError)?.code == .unavailable
        expectTrue(error is CancellationError, "\(error as Any)")
        try await expectEqual(scene.store.realm(scene.harness.realm)?.latest.version, 7)
        // The owner is none the worse for it.
        let notice = try await scene.harness.send(
            scene.harness.upload(scene.a, follows: 7, base: 7, [Changes.set(1, title: "on")])
        ).one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 8)
    }
}
