import Foundation
import LocalCluster
import TestSupport
import Testing

@Suite(.needsBroker, .timeLimit(.minutes(5)), .serialized)
struct OperatorTests {
    /// A class Dog with an integer key, and the dog 7: the example of docs/messages.md.
    static let dog = "3f0003446f673f01035f696400000001010002000107"

    @Test func debiansOwnToolCanWriteToARealm() async throws {
        try await withCluster { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let device = try await Device(cluster)
            let body =
                #"{"type": "changeset", "id": "dog-7", "changesets": ["\#(Self.dog)"], "#
                + #""realm": {"app": "\#(cluster.app)", "partition": "\#(Device.partition)"}}"#
            for _ in 0..<2 {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "0", "-C",
                        "application/json",
                        "-p", "-b", body,
                    ])
            }
            try await LocalCluster.retrying("the dog arrives") {
                guard try device.ids(of: "Dog") == ["7"] else { throw LocalClusterError("no dog") }
            }
        }
    }

    @Test func poisonIsParkedWithItsReasonAndTheRealmGoesOn() async throws {
        try await withCluster(slices: 1) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
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
                        "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "0", "-C",
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
        }
    }

    @Test func scriptsCanTellWhatWentWrong() async throws {
        try await withCluster(workers: 1, slices: 1) { cluster in
            func status(_ arguments: String...) async -> Int32? {
                do {
                    _ = try await cluster.operate(arguments)
                    return 0
                } catch {
                    return Int32("\(error)".split(separator: " exited with ").last?.prefix { $0.isNumber } ?? "")
                }
            }
            #expect(await status("apps", "show", "nobody") == 66)
            #expect(await status("apps", "create", "UPPER CASE") == 65)
            #expect(await status("publish", "changeset", "--app", "a", "--partition", "b", "--hex", "xyz") == 65)
            #expect(await status("publish", "changeset", "--app", "a") == 65)
            #expect(await status("rules", "import", "/nowhere") == 66)
            #expect(await status("rules", "import", "/usr") == 65)
            #expect(await status("no-such-command") == 64)
            #expect(await status("apps", "list", "--coordinator-url", "http://127.0.0.1:1") == 69)
            #expect(await status("queues", "--amqp-url", "amqp://guest:guest@127.0.0.1:1/") == 69)
            #expect(await status("queues", "--set", "amqp.url=amqp://guest:guest@127.0.0.1:1/") == 69)
            #expect(await status("queues", "--set", "amqp.nothing=1") == 65)
            #expect(await status("queues", "--set", "amqp.url") == 65)
            #expect(await status("campaigns", "show", "none") == 66)
            #expect(await status("apps", "list") == 0)
        }
    }
}
