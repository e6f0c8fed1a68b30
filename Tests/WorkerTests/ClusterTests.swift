import AMQP
import Foundation
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.needsBroker, .hangGuard) struct ClusterTests {
    @Test func anUploadIsIntegratedOnceHoweverOftenItIsDelivered() async throws {
        try await Cluster.with { cluster in
            let worker = try cluster.startWorker("a")
            let (file, generation) = try await cluster.join(session: 1)
            expectEqual(generation, 1)
            let upload = cluster.upload(file, [Changes.schema(), Changes.create(1, title: "milk")])
            try await cluster.send(upload)
            let notice = try await cluster.next(IntegratedNotice.self)
            expectEqual(notice.latest.version, 2)
            expectEqual(notice.acknowledgements.map(\.upload.clientVersion), [2])
            try await cluster.send(upload)
            try await expectEqual(cluster.next(IntegratedNotice.self).latest.version, 2)
            try await cluster.send(cluster.upload(file, follows: 9, [Changes.create(2)]))
            try await expectEqual(cluster.next(RefusedAnswer.self).code, 201)
            try await worker.stop()
        }
    }

    @Test func poisonIsSetAsideWhileTheRealmGoesOn() async throws {
        try await Cluster.with { cluster in
            let worker = try cluster.startWorker("a")
            let (file, _) = try await cluster.join(session: 1)
            var poison = try AMQPMessage(cluster.upload(file, []))
            poison.body = [2, 9, 9]
            try await cluster.send(poison)
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            try await expectEqual(cluster.next(IntegratedNotice.self).latest.version, 1)
            let dead = try await cluster.nextDead()
            expectEqual(dead.body, poison.body)
            expectEqual(dead.properties.messageID, poison.properties.messageID)
            expectEqual(
                dead.properties.headers[DeadLetter.queueHeader]?.stringValue, cluster.topology.slice(cluster.slice))
            try await worker.stop()
        }
    }

    @Test func concurrentUploadsAreMerged() async throws {
        try await Cluster.with { cluster in
            let worker = try cluster.startWorker("a")
            let (a, _) = try await cluster.join(session: 1)
            let (b, _) = try await cluster.join(session: 2)
            try await cluster.send(cluster.upload(a, [Changes.schema(), Changes.create(1)]))
            _ = try await cluster.next(IntegratedNotice.self)
            try await cluster.send(
                cluster.upload(a, follows: 2, base: 2, timestamp: 9_000, [Changes.set(1, title: "newer")]))
            try await cluster.send(cluster.upload(b, base: 2, timestamp: 5_000, [Changes.set(1, title: "older")]))
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 4 }
            let store = try await cluster.stores.store(for: cluster.slice)
            let entries = try await store.history(
                of: HistoryKey(realm: RealmID(1), generation: 1), after: 2, through: 4, maxBytes: .max)
            expectEqual(entries.map(\.entry.originFile), [a.ident, b.ident])
            expectEqual(entries.map(\.entry.changeset.isEmpty), [false, true])
            try await worker.stop()
        }
    }

    @Test func anotherWorkerTakesOverFromOneThatDied() async throws {
        try await Cluster.with { cluster in
            let workers = [try cluster.startWorker("a"), try cluster.startWorker("b")]
            let (file, _) = try await cluster.join(session: 1)
            let before = try await cluster.settledOwnership(among: ["a", "b"])
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            _ = try await cluster.next(IntegratedNotice.self)
            let dying = try #require(workers.first { $0.id == before.owner })
            let other = try #require(workers.first { $0.id != before.owner })
            await dying.kill()
            try await cluster.send(cluster.upload(file, follows: 1, [Changes.create(1)]))
            // What the dying one had not acknowledged yet may be told once more before.
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 2 }
            let after = try await cluster.ownership { $0.owner == other.id }
            expectTrue(after.epoch > before.epoch)
            let store = try await cluster.stores.store(for: cluster.slice)
            let change = try await store.ownershipHistory(limit: 100).last { $0.epoch > before.epoch }
            // Without waiting for the lease. In one process the dying one may still get to letting go.
            expectTrue(change?.reason == .ownerGone || change?.reason == .released)
            let error = await #expect(throws: StoreError.self) {
                try await store.commit(SliceBatch(), epoch: before.epoch)
            }
            expectEqual(error?.code, .fenced)
            try await other.stop()
        }
    }

    @Test func aWorkerThatStopsHandsItsSlicesOver() async throws {
        try await Cluster.with { cluster in
            let workers = [try cluster.startWorker("a"), try cluster.startWorker("b")]
            let (file, _) = try await cluster.join(session: 1)
            let before = try await cluster.settledOwnership(among: ["a", "b"])
            let leaving = try #require(workers.first { $0.id == before.owner })
            let other = try #require(workers.first { $0.id != before.owner })
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            try await leaving.stop()
            try await cluster.send(cluster.upload(file, follows: 1, [Changes.create(1)]))
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 2 }
            _ = try await cluster.ownership { $0.owner == other.id }
            let changes = try await cluster.stores.store(for: cluster.slice).ownershipHistory(limit: 100)
            let change = changes.last { $0.epoch > before.epoch }
            expectEqual(change?.reason, .released)
            try await other.stop()
        }
    }

    @Test func aLeaseFromAClockThatIsAheadIsWaitedForOnce() async throws {
        try await Cluster.with { cluster in
            // Somebody who lives, as its queue says, but serves nothing.
            let alive = cluster.topology.workerAlive("ahead")
            try await cluster.channel.declareQueue(AMQPQueueDeclaration(name: alive, durable: false, exclusive: true))
            let store = try await cluster.stores.store(for: cluster.slice)
            let future = UInt64(Date().timeIntervalSince1970 * 1_000) + 6 * 3_600_000
            let claim = try await store.claim(by: "ahead", now: future, leaseUntil: future + 1_000, gone: nil)
            // A shorter one would end the connections of a worker that a busy machine stops for seconds.
            let worker = try cluster.startWorker("a", lease: .seconds(30))
            _ = try await cluster.join(session: 1)
            expectEqual(claim, .owned(Epoch(1)))
            let change = try await store.ownershipHistory(limit: 100).last { $0.epoch > Epoch(1) }
            expectEqual(change?.reason, .leaseExpired)
            try await worker.stop()
        }
    }

    /// Somebody else may be active by then, and is not to wait for a lease.
    @Test(.needsBrokerControl) func aWorkerWhoseConnectionWasLostLetsGoOfItsSlices() async throws {
        try await Cluster.with { cluster in
            let id = "\(cluster.topology.prefix).cut"
            let worker = try cluster.startWorker(id, lease: .seconds(600))
            let (file, _) = try await cluster.join(session: 1)
            let before = try await cluster.ownership()
            try await Self.cutConsuming(of: id)
            let store = try await cluster.stores.store(for: cluster.slice)
            // What it had not acknowledged yet comes again, and makes it take the slice anew.
            while true {
                let owned = try await store.ownership()
                guard let owned, !owned.isReleased, owned.epoch == before.epoch else { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 1 }
            let after = try await cluster.ownership()
            expectTrue(after.epoch > before.epoch)
            try await worker.stop()
        }
    }

    /// Closes the connection that a worker consumes over, from the broker's side.
    private static func cutConsuming(of worker: String) async throws {
        // The list lags behind.
        var pids: [String] = []
        while pids.isEmpty {
            let list = try await TestBroker.control("list_connections", "pid", "client_properties", "--silent")
            pids = list.split(separator: "\n").filter { $0.contains("\(worker) consume") }
                .compactMap { $0.split(separator: "\t").first.map(String.init) }
        }
        try await TestBroker.control("close_connection", pids[0], "cut by a test")
    }

    @Test func slicesMoveToWorkersThatJoin() async throws {
        try await Cluster.with(slices: 8) { cluster in
            let first = try cluster.startWorker("a")
            _ = try await cluster.join(session: 1)
            let second = try cluster.startWorker("b")
            _ = try await cluster.settledOwnership(among: ["a", "b"])
            try await first.stop()
            try await second.stop()
        }
    }

    @Test func aTerminationReachesEverySliceAndEveryClient() async throws {
        try await Cluster.with { cluster in
            let worker = try cluster.startWorker("a")
            let (file, _) = try await cluster.join(session: 1)
            let termination = TerminationMessage(
                app: Cluster.app, campaign: "c-1", generation: 2, reason: "test")
            try await cluster.channel.publish(
                AMQPMessage(termination), exchange: cluster.topology.terminations, routingKey: "")
            var reports: [FoundReport] = []
            // A report that is not confirmed in time is made again.
            for slice in cluster.slices.all {
                reports.append(try await cluster.next(FoundReport.self) { $0.slice == slice })
            }
            expectEqual(reports.flatMap(\.clientRealms).map(\.clientFile), [file.ident])
            try await expectEqual(cluster.next(ResetNotice.self) { $0.slice == cluster.slice }.generation, 2)
            try await cluster.identify(file, session: 2)
            let refusal = try await cluster.next(RefusedAnswer.self)
            expectEqual(refusal.code, 208)
            expectEqual(refusal.campaign, "c-1")
            try await worker.stop()
        }
    }
}
