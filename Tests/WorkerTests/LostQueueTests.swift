import Messages
import Operations
import Storage
import SyncModel
import TestSupport
import Testing

@testable import AMQP
@testable import Worker

/// Queues that somebody deletes under running workers.
@Suite(.needsBroker, .hangGuard) struct LostQueueTests {
    private func wait(for readiness: [Readiness], toBe ready: Bool) async throws {
        while !readiness.allSatisfy({ $0.component("worker.slices")?.ready == ready }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The stand-by as well, to which nothing is delivered.
    @Test func workersAreReadyAgainOnceTheirQueuesAreThereAgain() async throws {
        try await Cluster.with { cluster in
            let readiness = [Readiness(), Readiness()]
            let workers = [
                try cluster.startWorker("a", readiness: readiness[0]),
                try cluster.startWorker("b", readiness: readiness[1]),
            ]
            _ = try await cluster.settledOwnership(among: ["a", "b"])
            try await wait(for: readiness, toBe: true)
            for slice in cluster.slices.all { _ = try await cluster.channel.deleteQueue(cluster.topology.slice(slice)) }
            try await wait(for: readiness, toBe: false)
            // The trouble is the broker's, and the store is well.
            expectTrue(readiness.allSatisfy { $0.component("worker.store")?.ready == true })
            try await TestBroker.declaring {
                try await cluster.topology.declareShared(on: cluster.channel, slices: cluster.slices)
            }
            try await wait(for: readiness, toBe: true)
            let (file, _) = try await cluster.join(session: 1)
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 1 }
            for worker in workers { try await worker.stop() }
        }
    }

    @Test(.needsBrokerControl) func aWorkerWhosePresenceQueueIsDeletedHearsItsPeersAgain() async throws {
        try await Cluster.with { cluster in
            let first = try cluster.startWorker("a")
            _ = try await cluster.join(session: 1)
            _ = try await cluster.ownership { $0.owner == "a" }
            // Exclusive queues can be deleted by their own connection alone, and by the broker's tools.
            let bindings = try await TestBroker.control("list_bindings", "source_name", "destination_name", "--silent")
            let queues = bindings.split(separator: "\n").compactMap { line -> String? in
                let columns = line.split(separator: "\t").map(String.init)
                return columns.first == cluster.topology.presence ? columns.last : nil
            }
            expectEqual(queues.count, 1)
            for queue in queues { try await TestBroker.control("delete_queue", queue) }
            // A worker that did not hear of this one would keep the slice.
            let better = try #require(
                (0..<100).lazy.map { "b\($0)" }.first {
                    Rendezvous.ranking(of: ["a", $0], for: cluster.slice).first == $0
                })
            let second = try cluster.startWorker(better)
            _ = try await cluster.settledOwnership(among: ["a", better])
            try await first.stop()
            try await second.stop()
        }
    }

    /// RabbitMQ answers an attempt to consume such a queue by closing the connection, over which the worker consumes the
    /// other slices, too.
    @Test(.needsBrokerControl) func aQueueThatTheBrokerCannotServeLeavesTheOtherSlicesInPeace() async throws {
        try await Cluster.with { cluster in
            let broken = try #require(cluster.slices.all.first { $0 != cluster.slice })
            let queue = cluster.topology.slice(broken)
            try await TestBroker.control("eval", "ra:stop_server(quorum_queues, {'%2F_\(queue)', node()}).")
            let readiness = Readiness()
            let worker = try cluster.startWorker("a", readiness: readiness)
            while readiness.component("worker.slices")?.reason.contains("rabbitmqctl delete_queue \(queue)") != true {
                try await Task.sleep(for: .milliseconds(20))
            }
            let (file, _) = try await cluster.join(session: 1)
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 1 }
            // What the reason advises.
            try await TestBroker.control("delete_queue", queue)
            try await TestBroker.declaring {
                try await cluster.topology.declareShared(on: cluster.channel, slices: cluster.slices)
            }
            try await wait(for: [readiness], toBe: true)
            try await worker.stop()
        }
    }

    @Test func attemptsOverAFailingBrokerGrowRare() {
        var pause = QueuePause()
        let failure = AMQPError(.connectionLost, "INTERNAL_ERROR", replyCode: 541)
        var pauses: [Duration] = []
        for _ in 0..<9 { pauses.append(pause.failed(failure, queue: "q", jitter: 1).pause) }
        expectEqual(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        // A queue that is not there is asked for again soon.
        let missing = pause.failed(AMQPError(.notFound, "no queue"), queue: "q", jitter: 0)
        expectTrue(missing.pause == .milliseconds(200) && missing.advice == nil && pause.failures == 0)
        _ = pause.failed(failure, queue: "q", jitter: 0)
        pause.consumed()
        expectTrue(pause.failed(failure, queue: "q", jitter: 0) == (.milliseconds(750), nil))
    }

    @Test func aWorkerThatWaitsForAFailingQueueStopsAtOnce() async throws {
        try await Cluster.with { cluster in
            let queue = cluster.topology.slice(cluster.slice)
            try await TestBroker.control("eval", "ra:stop_server(quorum_queues, {'%2F_\(queue)', node()}).")
            let readiness = Readiness()
            let worker = try cluster.startWorker("a", readiness: readiness)
            while readiness.component("worker.slices")?.reason.contains("the broker fails whenever") != true {
                try await Task.sleep(for: .milliseconds(20))
            }
            try await worker.stop()
            try await TestBroker.control("delete_queue", queue)
        }
    }

    @Test func aStoreThatFailsIsToldFromABrokerThatDoes() {
        expectEqual(SliceTrouble(StoreError(.unavailable, "the disk is full")).cause, .store)
        expectEqual(SliceTrouble(WorkerError(.stopping, "the store's reports are not published")).cause, .broker)
    }
}
