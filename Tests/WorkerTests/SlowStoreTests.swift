import AMQP
import Messages
import Operations
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// A store that takes its time hurts the slice that it is of.
@Suite(.needsBroker, .hangGuard) struct SlowStoreTests {
    @Test func aSlowStoreHoldsUpItsSliceAloneAndItsBacklogStaysAtTheBroker() async throws {
        let slices = try #require(SliceCount(2))
        let slow = RealmName(app: Cluster.app, partition: "\"store\"")
        let quick = try #require(
            (0..<100).map { RealmName(app: Cluster.app, partition: "\"quick-\($0)\"") }
                .first { $0.slice(of: slices) != slow.slice(of: slices) })
        let store = CountingStore(slice: slow.slice(of: slices))
        try await Cluster.with(slices: slices.value, stores: [store]) { cluster in
            try await cluster.channel.bindQueue(
                cluster.topology.gateway("g"), exchange: cluster.topology.realms, routingKey: quick.topicKey)
            let prefetch = 5
            let readiness = Readiness()
            var limits = WorkerLimits()
            limits.maxStandstill = .milliseconds(500)
            let worker = try cluster.startWorker("a", prefetch: prefetch, readiness: readiness, limits: limits)
            let (file, _) = try await cluster.join(session: 1)
            let (quickFile, _) = try await cluster.join(session: 2, to: quick)

            store.isStuck.withLock { $0 = true }
            let uploads = 50
            for number in 0..<UInt64(uploads) {
                let change = number == 0 ? Changes.schema() : Changes.create(Int64(number))
                try await cluster.send(cluster.upload(file, follows: ClientVersion(number), base: 0, [change]))
            }
            // The worker takes what it may hold, and no more.
            try await cluster.waits(uploads - prefetch, in: cluster.slice)
            // And says that the slice does not advance, although nothing has failed.
            func standsStill() -> Bool {
                let part = readiness.component("worker.slices")
                return part?.ready == false && part?.reason.contains("slice \(cluster.slice): ") == true
                    && part?.reason.contains("none was dealt with for") == true
            }
            while !standsStill() { try await Task.sleep(for: .milliseconds(20)) }

            // Everything else goes on.
            for number in 0..<UInt64(20) {
                var upload = cluster.upload(
                    quickFile, follows: ClientVersion(number), base: 0,
                    [number == 0 ? Changes.schema() : Changes.create(Int64(number))])
                upload.realm = quick
                try await cluster.send(upload, to: quick.slice(of: slices))
                let notice = try await cluster.next(IntegratedNotice.self) { $0.latest.version.rawValue == number + 1 }
                expectEqual(notice.realm, quick)
            }
            try await cluster.waits(uploads - prefetch, in: cluster.slice)

            store.isStuck.withLock { $0 = false }
            let last = try await cluster.next(IntegratedNotice.self) {
                $0.realm == slow && $0.latest.version.rawValue == UInt64(uploads)
            }
            expectEqual(last.acknowledgements.map(\.upload.clientVersion.rawValue), [UInt64(uploads)])
            try await cluster.waits(0, in: cluster.slice)
            while readiness.component("worker.slices")?.ready != true { try await Task.sleep(for: .milliseconds(20)) }
            try await worker.stop()
        }
    }
}

extension Cluster {
    /// How many messages of a slice's queue nobody has been given; a broker that is busy says none.
    fileprivate func waiting(in slice: SliceNumber) async throws -> Int {
        try await channel.declareQueue(AMQPQueueDeclaration(name: topology.slice(slice), passive: true), record: false)
            .messageCount
    }

    fileprivate func waits(_ count: Int, in slice: SliceNumber) async throws {
        while try await waiting(in: slice) != count { try await Task.sleep(for: .milliseconds(20)) }
    }
}
