import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// A worker that is told to stop while a merge takes many times the grace that it has.
@Suite(.needsBroker, .hangGuard) struct StopDuringMergeTests {
    private static let grace = Duration.seconds(1)

    @Test func endsInItsTimeAndLeavesTheMessageToTheNext() async throws {
        try await Cluster.with { cluster in
            var limits = WorkerLimits()
            limits.mergeStepsPerUpload = .max
            let first = try cluster.startWorker("a", limits: limits, grace: Self.grace)
            let (a, _) = try await cluster.join(session: 1)
            let (b, _) = try await cluster.join(session: 2)
            let tags = (0..<4 as Range<UInt32>).map { Changes.insertTag(1, "t", at: $0, of: $0) }
            try await cluster.send(cluster.upload(a, [Changes.schema(), Changes.create(1)] + tags))
            let moves = 8_000
            try await cluster.send(
                cluster.upload(
                    a, follows: 6, base: 6, timestamp: 2_000, [Changes.swapTags(1, first: 0, times: moves, of: 4)]))
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 7 }
            // As dear as the moves of both multiplied.
            try await cluster.send(
                cluster.upload(
                    b, base: 6, timestamp: 3_000, [Changes.swapTags(1, first: 2, times: moves, of: 4)]))
            let queue = cluster.topology.slice(cluster.slice)
            let channel = try await cluster.connection.openChannel()
            try await eventually("the merge has begun") {
                try await channel.declareQueue(.init(name: queue, passive: true), record: false).messageCount == 0
            }
            try await Task.sleep(for: .milliseconds(300))

            // Had the stop waited for the merge, its changeset would be there.
            try await first.stop()
            let store = try await cluster.stores.store(for: cluster.slice)
            try await expectEqual(store.realm(cluster.realm)?.latest.version, 7)
            try await expectEqual(store.ownership()?.isReleased, true)

            let second = try cluster.startWorker("b", limits: limits)
            let notice = try await cluster.next(IntegratedNotice.self) { $0.latest.version > 7 }
            expectEqual(notice.latest.version, 8)
            expectEqual(notice.acknowledgements.map(\.clientFile), [b.ident])
            try await cluster.send(cluster.upload(a, follows: 7, base: 7, [Changes.set(1, title: "on")]))
            try await expectEqual(cluster.next(IntegratedNotice.self) { $0.latest.version > 8 }.latest.version, 9)
            try await second.stop()
        }
    }
}
