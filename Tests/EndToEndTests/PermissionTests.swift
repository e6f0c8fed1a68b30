import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

private struct StoredRealm: Decodable {
    var partition: String
    var version: UInt64
}

private func versions(_ cluster: LocalCluster) async throws -> [String: UInt64] {
    let realms = try await cluster.operateJSON([StoredRealm].self, "realms", "list", "--app", cluster.app)
    return Dictionary(realms.map { ($0.partition, $0.version) }, uniquingKeysWith: { $1 })
}

/// A device that can do nothing but ask for the partition.
private func refusal(of user: User, _ partition: String) async throws -> SyncError {
    do {
        _ = try await Device(user: user, partition: partition)
    } catch let error as SyncError {
        return error
    }
    throw LocalClusterError("the realm of \(partition) was opened")
}

extension SharedClusterTests {
    /// Rules of partition sync, from the operator's command to the users' copies.
    @Suite struct PermissionTests {
        @Test func usersSeeTheirOwnPartitionAndNoOther() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--rules", "own")
            let (first, second) = (try await Device.user(of: cluster), try await Device.user(of: cluster))
            let device = try await Device(user: first, partition: first.id)
            try device.create("mine")
            try await device.upload()
            let error = try await refusal(of: second, first.id)
            expectTrue(error.code == .permissionDeniedError && error.isFatal)
            expectTrue(error.message.contains("permission denied"))
            expectTrue(error.deleteRealmUserInfo() == nil)
            // A partition that nobody may open does not come into being.
            _ = try await refusal(of: second, "nobody's")
            try await expectEqual(versions(cluster).keys.sorted(), ["\"\(first.id)\""])
            let other = try await Device(user: second, partition: second.id)
            try expectTrue(other.ids().isEmpty)
        }

        @Test func readersReadAndTheirWritesArePutRight() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let writer = try await Device(cluster)
            try writer.create("a")
            try await writer.upload()
            try await cluster.setRules(
                #"{"partition":{"read":true,"write":{"%%user.id":"\#(writer.user.id)"}}}"#, of: cluster.app)
            let reader = try await Device(cluster, mode: "recoverOrDiscard")
            try expectEqual(reader.ids(), ["a"])
            // The reader's classes are declared, which is no write.
            try await reader.upload()
            let before = try await versions(cluster)
            try reader.create("b")
            try await LocalCluster.retrying("the reader's copy is put right") {
                guard reader.resets.value == 1, try reader.ids() == ["a"] else {
                    throw LocalClusterError("\(reader.resets.value) resets, it has \(try reader.ids())")
                }
            }
            try await expectEqual(versions(cluster), before)
            // The reader goes on as what it is: a copy.
            try writer.create("c")
            try await writer.upload()
            try await reader.download()
            try expectTrue(reader.ids() == ["a", "c"] && writer.ids() == ["a", "c"])
            let campaigns = try await cluster.operate("campaigns", "list", "--accounts", "--json")
            expectTrue(campaigns.contains("permission denied") || campaigns.contains("discarded"))
        }

        @Test func forbiddenWritesAreReportedWhereTheAppSaysSo() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let writer = try await Device(cluster)
            try writer.create("a")
            try await writer.upload()
            try await cluster.operate("apps", "set", cluster.app, "--on-write-denied", "error")
            try await cluster.setRules(
                #"{"partition":{"read":true,"write":{"%%user.id":"\#(writer.user.id)"}}}"#, of: cluster.app)
            let reader = try await Device(cluster)
            try reader.create("b")
            let error = try await #require(throws: SyncError.self) { try await reader.upload() }
            expectTrue(error.code == .permissionDeniedError && error.message.contains("permission denied"))
            try expectTrue(reader.ids() == ["a", "b"] && reader.resets.value == 0)
            try await writer.download()
            try expectEqual(writer.ids(), ["a"])
        }

        @Test func nothingIsIntegratedAfterRulesAreTightened() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            let written = Mutex(0)
            let isOver = Mutex(false)
            // Changes go up while the rules change.
            async let writing: Void = {
                while !isOver.withLock({ $0 }) {
                    let number = written.withLock { $0 }
                    try device.create("\(number)")
                    written.withLock { $0 = number + 1 }
                    try await Task.sleep(for: .milliseconds(5))
                }
            }()
            try await LocalCluster.retrying("some are up") {
                guard written.withLock({ $0 }) > 40 else { throw LocalClusterError("not yet") }
            }
            try await cluster.setRules(#"{"partition":{"read":false,"write":false}}"#, of: cluster.app)
            let last = written.withLock { $0 }
            let error = await #expect(throws: SyncError.self) {
                while true { try await device.upload() }
            }
            expectEqual(error?.code, .permissionDeniedError)
            isOver.withLock { $0 = true }
            try await writing
            // What the device has sent is in the slice's queue before an event of the operator's, which is integrated: so all else has been
            // dealt with.
            let name = "\"\(Device.partition)\""
            let version = try #require(try await versions(cluster)[name])
            try await cluster.operate(
                "publish", "changeset", "--app", cluster.app, "--partition", Device.partition, "--hex", changesetOfADog)
            try await LocalCluster.retrying("the event is integrated") {
                let now = try await versions(cluster)[name] ?? 0
                guard now > version else { throw LocalClusterError("version \(now)") }
                expectEqual(now, version + 1)
            }
            // Once they may be read again, what was written before is there, and the rest is not: its author may read alone.
            try await cluster.setRules(#"{"partition":{"read":true,"write":false}}"#, of: cluster.app)
            let reader = try await LocalCluster.retrying("the gateway goes by the new rules") {
                try await Device(cluster)
            }
            let found = try reader.ids().compactMap(Int.init)
            expectTrue(found.count > 10 && found.allSatisfy { $0 <= last }, "\(found.max() ?? 0) after \(last)")
        }

        @Test func rulesThatAreLoosenedLetUsersIn() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--rules", "none")
            let user = try await Device.user(of: cluster)
            try await expectEqual(refusal(of: user, "p").code, .permissionDeniedError)
            try await cluster.setRules(#"{"partition":{"read":true,"write":true}}"#, of: cluster.app)
            let device = try await LocalCluster.retrying("the gateway goes by the new rules") {
                // The file is there since the first try, so opening it does not wait for the server.
                let device = try await Device(user: user, partition: "p")
                try device.session.resume()
                try await device.download()
                return device
            }
            try device.create("a")
            try await device.upload()
        }

        @Test func aUserWhoIsDisabledIsLoggedOutAndNobodyElse() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (gone, staying) = (try await Device(cluster), try await Device(cluster))
            try await cluster.operate("users", "disable", cluster.app, gone.user.id)
            // Well before its token is looked at again of itself.
            try await LocalCluster.retrying("the user is logged out") {
                guard !gone.user.isLoggedIn else { throw LocalClusterError("it is \(gone.user.state)") }
            }
            try staying.create("a")
            try await staying.upload()
            expectTrue(staying.user.isLoggedIn)
        }
    }
}

extension ShakenClusterTests {
    /// Rules where nobody owns a slice, or where what one gateway says is counted.
    @Suite struct PermissionTests {
        @Test func rulesThatChangeNothingDisturbNobody() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            func refusals() async throws -> Double {
                try await cluster.metric("sluice_gateway_errors_total{code=\"200\"}", of: "gateway")
            }
            let before = try await refusals()
            try await cluster.setRules(#"{"partition":{"read":true,"write":{"%%true":true}}}"#, of: cluster.app)
            // The next rules shut out a stranger. When it hears so, those before them have been read, too.
            let stranger = try await Device.user(of: cluster)
            let open = #"{"%%user.id":{"$ne":"\#(stranger.id)"}}"#
            try await cluster.setRules(#"{"partition":{"read":\#(open),"write":\#(open)}}"#, of: cluster.app)
            try await LocalCluster.retrying("the stranger is shut out") {
                guard (try? await Device(user: stranger, partition: "elsewhere")) == nil else {
                    throw LocalClusterError("it is not")
                }
            }
            try device.create("a")
            try await device.upload()
            try await expectEqual(refusals(), before)
            let other = try await Device(cluster)
            try expectEqual(other.ids(), ["a"])
        }

        @Test func rulesHoldAlsoIfNobodyOwnsTheSliceWhenTheyChange() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster, mode: "recoverOrDiscard")
            try device.create("before")
            try await device.upload()
            // In order, so that nobody waits for a lease afterwards.
            for worker in ["worker-1", "worker-2"] { await cluster.stop(worker) }
            // The upload reaches the slice's queue before the rules do.
            try device.create("queued")
            struct Queue: Decodable {
                var queue: String
                var ready: Int
            }
            try await LocalCluster.retrying("the upload waits in the slice's queue") {
                let queues = try await cluster.operateJSON([Queue].self, "queues")
                guard queues.contains(where: { $0.queue.contains(".slice.") && $0.ready > 0 }) else {
                    throw LocalClusterError("nothing waits")
                }
            }
            try await cluster.setRules(#"{"partition":{"read":true,"write":false}}"#, of: cluster.app)
            for worker in ["worker-1", "worker-2"] { try await cluster.startWorker(worker) }
            try await LocalCluster.retrying("the copy is put right") {
                guard try device.ids() == ["before"] else { throw LocalClusterError("it has \(try device.ids())") }
            }
            let reader = try await Device(cluster)
            try expectEqual(reader.ids(), ["before"])
        }
    }
}

extension LocalCluster {
    /// Puts rules in force, as JSON. What comes to a slice after this has returned is judged by them.
    func setRules(_ document: String, of app: String) async throws {
        let file = file("rules.json")
        try Data(document.utf8).write(to: URL(fileURLWithPath: file))
        try await operate("rules", "set", app, file)
    }
}
