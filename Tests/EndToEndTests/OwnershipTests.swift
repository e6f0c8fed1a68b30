import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

/// Every slice belongs to one of these, none to anybody else, and each has a stand-by among them.
private func settle(_ cluster: LocalCluster, among workers: Set<String>) async throws {
    struct Slice: Decodable {
        var owner: String?
        var standBy: [String]
    }
    try await LocalCluster.retrying("the slices settle among \(workers.sorted())") {
        let slices = try await cluster.operateJSON([Slice].self, "slices")
        let owners = Set(slices.compactMap(\.owner))
        guard slices.allSatisfy({ $0.owner != nil && !$0.standBy.isEmpty }), owners == workers else {
            throw LocalClusterError("owners are \(owners.sorted())")
        }
    }
}

private func requireEverywhere(
    _ ids: Set<String>, _ devices: [Device], _ cluster: LocalCluster, partition: String = Device.partition
) async throws {
    let fresh = try await Device(cluster, partition: partition)
    for device in devices + [fresh] {
        try await device.download()
        let found = try device.ids()
        expectEqual(found, ids, "lost \(ids.subtracting(found).count), too many \(found.subtracting(ids).count)")
    }
}

/// An owner that stands still while clients write.
@Suite(.needsBroker, .hangGuard)
struct PausedOwnerTests {
    @Test func anOwnerThatWasPausedWritesNothingWhenItComesBack() async throws {
        // The broker gives up a silent peer after two heartbeats.
        try await withCluster(amqpQuery: "&heartbeat=1") { cluster in
            try await cluster.makeApp()
            let devices = [try await Device(cluster), try await Device(cluster)]
            let quiet = Load(devices, named: "quiet")
            try await quiet.written(atLeast: 20)
            var ids = try await quiet.finish()
            let change = try await pauseTheOwner(in: cluster, devices)
            ids.formUnion(change.written)
            expectTrue(change.second.worker != change.first.worker)
            expectTrue(["dead", "lease"].contains(change.second.how))
            // Served again, while the old owner still believes that the slice is its own.
            try devices[0].create("served")
            try await devices[0].upload()
            let load = Load(devices, named: "load")
            cluster.resume(change.first.worker)
            try await load.written(atLeast: 20)
            ids.formUnion(try await load.finish())
            try await requireEverywhere(ids.union(["served"]), devices, cluster)
            requireOneWriterAtATime(try await cluster.history())
        }
    }

    private struct Change {
        var first: OwnedSlice
        var second: OwnedSlice
        var written: Set<String> = []
    }

    /// Pauses the owner of the devices' realm, has the devices write to it, and waits until somebody else has the slice.
    ///
    /// One that is stopped in the middle of a commit keeps SQLite's lock, so that nobody can take the slice before it goes
    /// on: nothing is written when it is paused, and if it was at something else then, it is tried once more.
    private func pauseTheOwner(in cluster: LocalCluster, _ devices: [Device]) async throws -> Change {
        var written: Set<String> = []
        for attempt in 0..<5 {
            try await settle(cluster, among: ["worker-1", "worker-2"])
            for device in devices { try await device.upload() }
            let seen = try #require(try await cluster.history(ofPartition: Device.partition).last)
            cluster.pause(seen.worker)
            for (number, device) in devices.enumerated() {
                let ids = (0..<10).map { "paused-\(attempt)-\(number)-\($0)" }
                for id in ids { try device.create(id) }
                written.formUnion(ids)
            }
            let first = (try? await cluster.history(ofPartition: Device.partition))?.last
            if let first, first.epoch == seen.epoch, first.releasedAt == nil {
                let second = try? await LocalCluster.retrying("somebody else takes the slice", upTo: .seconds(30)) {
                    let history = try await cluster.history(ofPartition: Device.partition)
                    // The worker that came next counts: it may have lost its connection, and taken the slice again,
                    // since.
                    guard let taken = history.first(where: { $0.epoch > first.epoch }) else {
                        throw LocalClusterError("\(first.worker) has it")
                    }
                    return taken
                }
                if let second { return Change(first: first, second: second, written: written) }
            }
            cluster.resume(seen.worker)
        }
        throw LocalClusterError("nobody took a slice whose owner was paused")
    }
}

extension ShakenClusterTests {
    /// Slices change hands while clients write: nothing is lost, and never do two workers write to one slice.
    @Suite struct OwnershipTests {
        @Test func slicesMoveToWorkersThatJoinAndFromThoseThatLeave() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            var devices: [Device] = []
            for partition in ["a", "b", "c"] { devices.append(try await Device(cluster, partition: partition)) }
            let redeliveries = {
                try await cluster.redeliveries(
                    among: ["worker-1", "worker-2", "worker-3"], to: ["worker-2", "worker-3"])
            }
            let earlier = try await cluster.history()
            let load = Load(devices)
            try await load.written(atLeast: 20)
            try await cluster.startWorker("worker-3")
            try await settle(cluster, among: ["worker-1", "worker-2", "worker-3"])
            try await load.written(atLeast: load.count + 20)
            let before = try await redeliveries()
            await cluster.stop("worker-1")
            try await settle(cluster, among: ["worker-2", "worker-3"])
            try await load.written(atLeast: load.count + 20)
            let ids = try await load.finish()
            for (number, device) in devices.enumerated() {
                let own = ids.filter { $0.hasPrefix("\(number)-") }
                try await requireEverywhere(own, [device], cluster, partition: device.partition)
            }
            let history = try await cluster.history()
            requireOneWriterAtATime(history)
            // Nobody died: each change was a hand-over.
            let changes = history.filter { new in !earlier.contains { $0.slice == new.slice && $0.epoch == new.epoch } }
            expectTrue(changes.allSatisfy { $0.how == "released" })
            expectTrue(changes.contains { $0.worker == "worker-3" && $0.how == "released" })
            let cost = try await redeliveries() - before
            expectEqual(cost.givenBack, 0)
            expectTrue(cost.made <= cost.allowed, "\(["worker-1", "worker-2", "worker-3"].map(cluster.ownership))")
        }

        @Test func handingOverOnSIGTERMCostsNoRedelivery() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let devices = [try await Device(cluster), try await Device(cluster)]
            let load = Load(devices)
            try await settle(cluster, among: ["worker-1", "worker-2"])
            let owner = try #require(try await cluster.history(ofPartition: Device.partition).last)
            let successor = owner.worker == "worker-1" ? "worker-2" : "worker-1"
            try await load.written(atLeast: load.count + 20)
            // Where workers start at once a slice may be given to one that is not to have it, and goes back.
            let workers = [owner.worker, successor]
            let before = try await cluster.redeliveries(among: workers, to: [successor])
            await cluster.stop(owner.worker)
            try await load.written(atLeast: load.count + 20)
            let ids = try await load.finish()
            try await requireEverywhere(ids, devices, cluster)
            let history = try await cluster.history(ofPartition: Device.partition)
            requireOneWriterAtATime(history)
            expectEqual(history.last?.worker, successor)
            expectEqual(history.last?.how, "released")
            expectTrue(history.dropLast().last?.releasedAt != nil)
            let cost = try await cluster.redeliveries(among: workers, to: [successor]) - before
            expectEqual(cost.givenBack, 0)
            expectTrue(cost.made <= cost.allowed, "\(workers.map(cluster.ownership))")
        }

        @Test(.needsBrokerControl) func aGatewayWhoseQueueIsDeletedDeclaresItAgain() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let first = try await Device(cluster)
            let second = try await Device(cluster)
            let names = try await TestBroker.control("-q", "list_queues", "--no-table-headers", "name")
            let queue = try #require(
                names.split(separator: "\n").first { $0.hasPrefix("\(cluster.prefix).gateway.") })
            try await TestBroker.control("-q", "delete_queue", String(queue))
            try first.create("after")
            try await first.upload()
            try await LocalCluster.retrying("the live session hears of it unasked") {
                guard try second.ids() == ["after"] else { throw LocalClusterError("it has \(try second.ids())") }
            }
            expectTrue(cluster.log(of: "gateway").contains("the gateway's queue is declared again"))
        }
    }
}

extension SharedClusterTests {
    /// The number of slices is the cluster's.
    @Suite struct SliceCountTests {
        @Test func anotherNumberOfSlicesIsRefused() async throws {
            let cluster = try SharedCluster.cluster
            let count = cluster.slices
            let other = LocalCluster(
                amqpURL: cluster.amqpURL, folder: cluster.folder, sluice: cluster.sluice, slices: count + 1,
                prefix: cluster.prefix)
            for role in ["worker", "coordinator", "gateway"] {
                let error = await #expect(throws: LocalClusterError.self) { try await other.operate(role) }
                let text = error?.description ?? ""
                expectTrue(text.contains("this cluster has \(count) slices and the settings say \(count + 1)"))
                expectTrue(text.contains("set SLUICE_SLICES=\(count)"))
                expectTrue(text.contains("exited with 65"))
            }
            let history = try await cluster.history("--slice", "1")
            expectEqual(Set(history.map(\.slice)), [1])
            expectEqual(history.first?.how, "claimed")
            await #expect(throws: LocalClusterError.self) { try await cluster.history("--slice", "\(count)") }
        }
    }
}
