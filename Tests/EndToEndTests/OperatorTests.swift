import Foundation
import LocalCluster
import TestSupport
import Testing

/// A class Dog with an integer key, and the dog 7: the example of docs/messages.md.
let changesetOfADog = "3f0003446f673f01035f696400000001010002000107"

extension LocalCluster {
    /// Leaves no dead letter. Whoever has looked at them puts back what was there a moment later, so each try may come too early.
    func dropDeadLetters() async throws {
        try await Self.retrying("the dead letters are dropped") {
            try await operate("dead-letters", "drop", "--all", "--yes")
            guard try await operate("dead-letters", "list", "--json") == "[]\n" else {
                throw LocalClusterError("some are there")
            }
        }
    }
}

extension SharedClusterTests {
    /// What operators and their scripts do beside the commands.
    @Suite struct OperatorTests {
        @Test func debiansOwnToolCanWriteToARealm() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let slice = try await cluster.slice(ofPartition: Device.partition)
            let device = try await Device(cluster)
            let body =
                #"{"type": "changeset", "id": "dog-7", "changesets": ["\#(changesetOfADog)"], "#
                + #""realm": {"app": "\#(cluster.app)", "partition": "\#(Device.partition)"}}"#
            for _ in 0..<2 {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "\(slice)", "-C",
                        "application/json",
                        "-p", "-b", body,
                    ])
            }
            try await LocalCluster.retrying("the dog arrives") {
                guard try device.ids(of: "Dog") == ["7"] else { throw LocalClusterError("no dog") }
            }
        }

        @Test func scriptsCanTellWhatWentWrong() async throws {
            let cluster = try SharedCluster.cluster
            func status(_ arguments: String...) async -> Int32? {
                do {
                    _ = try await cluster.operate(arguments)
                    return 0
                } catch {
                    return Int32("\(error)".split(separator: " exited with ").last?.prefix { $0.isNumber } ?? "")
                }
            }
            await expectEqual(status("apps", "show", "nobody"), 66)
            await expectEqual(status("apps", "create", "UPPER CASE"), 65)
            await expectEqual(status("publish", "changeset", "--app", "a", "--partition", "b", "--hex", "xyz"), 65)
            await expectEqual(status("publish", "changeset", "--app", "a"), 65)
            await expectEqual(status("rules", "import", "/nowhere"), 66)
            await expectEqual(status("rules", "import", "/usr"), 65)
            await expectEqual(status("no-such-command"), 64)
            await expectEqual(status("apps", "list", "--coordinator-url", "http://127.0.0.1:1"), 69)
            await expectEqual(status("queues", "--coordinator-url", "http://127.0.0.1:1"), 69)
            await expectEqual(status("broker", "queues", "--amqp-url", "amqp://guest:guest@127.0.0.1:1/"), 69)
            await expectEqual(status("broker", "queues", "--set", "amqp.url=amqp://guest:guest@127.0.0.1:1/"), 69)
            await expectEqual(status("queues", "--set", "amqp.nothing=1"), 65)
            await expectEqual(status("queues", "--set", "amqp.url"), 65)
            await expectEqual(status("campaigns", "show", "none"), 66)
            await expectEqual(status("apps", "list"), 0)
        }
    }
}

extension ShakenClusterTests {
    /// Messages that nobody can integrate.
    @Suite struct PoisonTests {
        @Test func poisonIsParkedWithItsReasonAndTheRealmGoesOn() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let slice = try await cluster.slice(ofPartition: Device.partition)
            let device = try await Device(cluster)
            let poison = [
                "not json at all", #"{"type": "no-such-type"}"#,
                #"{"type": "changeset", "realm": {"app": "nobody", "partition": "x"}, "changesets": []}"#,
                #"{"type": "changeset", "realm": {"app": "\#(cluster.app)", "partition": "\#(Device.partition)"}, "changesets": ["3e"]}"#,
            ]
            for body in poison {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "\(slice)", "-C",
                        "application/json",
                        "-b", body,
                    ])
            }
            try device.create("after the poison")
            try await device.upload()
            struct Queue: Decodable {
                var queue: String
                var ready: Int
            }
            try await LocalCluster.retrying("all of it is in the dead-letter queue") {
                let queues = try await cluster.operateJSON([Queue].self, "queues")
                let dead = queues.first { $0.queue == "\(cluster.prefix).dead" }?.ready
                guard dead == poison.count else { throw LocalClusterError("\(dead ?? -1) dead letters") }
            }
            try await cluster.dropDeadLetters()
        }
    }
}
