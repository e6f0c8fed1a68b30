import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// Every command of the operator against a real cluster.
    @Suite struct OperatorCommandTests {
        private struct Line: Decodable {
            var type: String
            var app: String?
            var partition: String?
            var body: String?
        }

        private struct Gap: Decodable {
            var dropped: Int?
        }

        @Test func tailShowsWhatPassesAndNoPayload() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            async let followed = cluster.operate(
                "tail", "--app", cluster.app, "--realm", Device.partition, "--type", "changeset", "--count", "3",
                "--json")
            async let shown = cluster.operate(
                "tail", "--app", cluster.app, "--type", "changeset", "--count", "3", "--bodies")
            let writing = Task {
                for number in 0... {
                    try device.create("secret-\(number)", name: "payload")
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            let text = try await followed
            let bodies = try await shown
            writing.cancel()
            let lines = try text.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            expectTrue(lines.count == 3 && lines.allSatisfy { $0.type == "changeset" && $0.app == cluster.app })
            expectTrue(lines.allSatisfy { $0.partition == "\"\(Device.partition)\"" && $0.body == nil })
            // "payload" in hexadecimal.
            expectTrue(!text.contains("7061796c6f6164") && bodies.contains("7061796c6f6164"))
            try await device.upload()
        }

        @Test(.needsBrokerControl) func aSlowTerminalIsToldHowMuchItMissed() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let event =
                #"{"realm": {"app": "\#(cluster.app)", "partition": "x"}, "changesets": ["\#(changesetOfADog)"]}"#
            let events = cluster.file("events")
            try Array(repeating: event, count: 3000).joined(separator: "\n").write(
                toFile: events, atomically: true, encoding: .utf8)
            // Reads a line, then nothing before it is told to.
            let heard = cluster.file("heard")
            let flag = cluster.file("flag")
            async let shown = cluster.shell(
                "sh",
                [
                    "-c",
                    "'\(cluster.sluice)' tail --app \(cluster.app) --type changeset --count 1100 --json"
                        + " | (read line; touch '\(heard)'; while [ ! -e '\(flag)' ]; do sleep 0.1; done; cat)",
                ])
            // From when on the command listens, only its first line tells.
            try await LocalCluster.retrying("the first message is shown") {
                try await cluster.operate(
                    "publish", "changeset", "--app", cluster.app, "--partition", "x", "--hex", changesetOfADog)
                guard FileManager.default.fileExists(atPath: heard) else { throw LocalClusterError("nothing yet") }
            }
            try await cluster.operate("publish", "changeset", "--file", events)
            // What it has not read it cannot have left out. Its queue is one of those that have no name of their own.
            try await LocalCluster.retrying("the command has read all of it") {
                let queues = try await TestBroker.control("-q", "list_queues", "--no-table-headers", "name", "messages")
                let unread = queues.split(separator: "\n").filter { $0.hasPrefix("anonymous.") && !$0.hasSuffix("\t0") }
                guard unread.isEmpty else { throw LocalClusterError(unread.joined(separator: ", ")) }
            }
            try Data().write(to: URL(filePath: flag))
            let dropped = try await shown.split(separator: "\n").map {
                try JSONDecoder().decode(Gap.self, from: Data($0.utf8)).dropped ?? 0
            }
            expectTrue(dropped.contains { $0 > 0 })
        }

        /// RabbitMQ 4.3 declines them unless it is told to permit them; older brokers take them without a word.
        @Test(.needsBrokerControl) func nothingIsUsedThatNewerBrokersRefuse() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            // A command's own queue is there as well.
            let tail = Task { try await cluster.operate("tail", "--app", cluster.app, "--count", "1000") }
            defer { tail.cancel() }
            func rows(_ arguments: String...) async throws -> [[Substring]] {
                try await TestBroker.control(["-q"] + arguments + ["--no-table-headers"])
                    .split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
            }
            try await LocalCluster.retrying("the command's queue is there") {
                try device.create(UUID().uuidString)
                try await device.upload()
                guard try await rows("list_queues", "name").contains(where: { $0[0].hasPrefix("anonymous.") })
                else { throw LocalClusterError("not yet") }
            }
            let queues = try await rows("list_queues", "name", "durable", "exclusive", "arguments")
            expectTrue(queues.count > cluster.slices)
            for queue in queues {
                expectTrue(queue[1] == "true" || queue[2] == "true", "\(queue[0]) is transient, and for everybody")
                for argument in ["x-queue-mode", "x-queue-version", "x-queue-master-locator", "x-ha-policy"] {
                    expectTrue(!queue[3].contains(argument), "\(queue[0]) asks for \(argument)")
                }
            }
            let channels = try await rows("list_channels", "name", "global_prefetch_count")
            expectTrue(channels.count > 1)
            for channel in channels {
                expectEqual(channel[1], "0", "\(channel[0]) has a prefetch that consumers share")
            }
            for policy in try await rows("list_policies") {
                expectTrue(!policy.contains { $0.contains("ha-mode") || $0.contains("queue-mode") }, "\(policy)")
            }
        }

        @Test func aPlanTellsWhoWouldReset() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let writer = try await Device(cluster)
            let reader = try await Device(cluster)
            try writer.create("one")
            try await writer.upload()
            try await reader.download()
            struct Plan: Decodable {
                var clientRealms: Int
                var writers: Int
                var offlineWriters: Int
            }
            let plan = try await cluster.operateJSON(Plan.self, "campaigns", "plan", "--app", cluster.app)
            expectTrue(plan.clientRealms == 2 && plan.offlineWriters == 0)
            expectTrue((1...2).contains(plan.writers))
            try await expectTrue(
                cluster.operate("campaigns", "plan", "--app", cluster.app).contains("would reset    2"))
            expectTrue(writer.resets.value == 0 && reader.resets.value == 0)
        }

        @Test func queuesShowHowFarTheOwnersAreBehind() async throws {
            let cluster = try SharedCluster.cluster
            struct Queue: Decodable {
                var slice: Int?
                var lag: Int?
                var outPerSecond: Double?
            }
            // Ticks keep every slice moving.
            try await LocalCluster.retrying("all slices report their rate") {
                let queues = try await cluster.operateJSON([Queue].self, "queues").filter { $0.slice != nil }
                guard queues.count == cluster.slices, queues.allSatisfy({ $0.lag != nil && ($0.outPerSecond ?? 0) > 0 })
                else {
                    throw LocalClusterError("\(queues)")
                }
            }
        }
    }
}

extension ShakenClusterTests {
    /// Commands that speak of the whole cluster, and those for a cluster that is broken.
    @Suite struct OperatorCommandTests {
        @Test func deadLettersAreListedRequeuedAndDropped() async throws {
            let cluster = try SharedCluster.cluster
            let slice = try await cluster.slice(ofPartition: Device.partition)
            let body =
                #"{"type": "changeset", "id": "dog-7", "changesets": ["\#(changesetOfADog)"], "#
                + #""realm": {"app": "\#(cluster.app)", "partition": "\#(Device.partition)"}}"#
            for body in [body, "not json at all"] {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "\(slice)", "-C",
                        "application/json",
                        "-b", body,
                    ])
            }
            struct Entry: Decodable {
                var name: String
                var id: String?
                var queue: String?
                var reason: String
            }
            func list() async throws -> [Entry] { try await cluster.operateJSON([Entry].self, "dead-letters", "list") }
            // A command that has looked puts back what was there a moment later, so each of these may come too early.
            func retrying(_ arguments: String...) async throws -> String {
                try await LocalCluster.retrying("\(arguments) works") { try await cluster.operate(arguments) }
            }
            func listed(_ count: Int) async throws -> [Entry] {
                try await LocalCluster.retrying("there are \(count) dead letters") {
                    let entries = try await list()
                    guard entries.count == count else { throw LocalClusterError("there are \(entries.count)") }
                    return entries
                }
            }
            let entries = try await listed(2)
            let garbage = try #require(entries.first { $0.id == nil })
            expectTrue(entries.contains { $0.id == "dog-7" } && garbage.name.count == 12)
            expectTrue(entries.allSatisfy { $0.queue == "\(cluster.prefix).slice.\(slice)" })
            try await expectTrue(!retrying("dead-letters", "show", garbage.name).contains("not json"))
            try await expectTrue(retrying("dead-letters", "show", garbage.name, "--bodies").contains("not json at all"))
            // The reason is mended: now there is such an app.
            try await cluster.makeApp()
            let device = try await Device(cluster)
            _ = try await retrying("dead-letters", "requeue", "dog-7")
            try await LocalCluster.retrying("the dog arrives") {
                guard try device.ids(of: "Dog") == ["7"] else { throw LocalClusterError("no dog") }
            }
            await #expect(throws: LocalClusterError.self) { try await cluster.operate("dead-letters", "drop", "--all") }
            _ = try await listed(1)
            try await cluster.dropDeadLetters()
        }

        @Test func realmsAreListedVerifiedAndExportedBesideTheCluster() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            for number in 0..<20 { try device.create("item-\(number)") }
            try await device.upload()
            struct Realm: Decodable {
                var partition: String
                var version: UInt64
                var clientFiles: [String: Int]
            }
            let realms = try await cluster.operateJSON([Realm].self, "realms", "list", "--app", cluster.app)
            expectTrue(realms.map(\.partition) == ["\"\(Device.partition)\""] && realms[0].clientFiles["live"] == 1)
            expectTrue(realms[0].version >= 20)
            let shown = try await cluster.operate("realms", "show", "--app", cluster.app, "--realm", Device.partition)
            expectTrue(shown.contains("objects      20"))

            struct Verdict: Decodable {
                var replay: String
                var objects: Int
                var digest: String?
                var findingCount: Int
            }
            let before = try await cluster.operateJSON(Verdict.self, "realms", "verify", "--app", cluster.app)
            expectTrue(before.replay == "equal" && before.objects == 20 && before.findingCount == 0)

            let lines = try await cluster.operate("realms", "export", "--app", cluster.app, "--realm", Device.partition)
                .split(separator: "\n")
            expectEqual(lines.count { $0.hasPrefix(#"{"class":"Item","#) }, 20)
            let history = try await cluster.operate(
                "realms", "export", "--app", cluster.app, "--realm", Device.partition, "--history")
            expectEqual(history.split(separator: "\n").count, Int(realms[0].version) + 1)

            // A new generation begins its history with what the state is; it must come to the same.
            let dry = try await cluster.operate("sync", "terminate", cluster.app, "--dry-run")
            expectTrue(dry.contains("dry run: ") && dry.contains("client realm"), "\(dry)")
            let unsent = try await cluster.operate("publish", "termination", "--app", cluster.app, "--dry-run")
            expectTrue(unsent.contains("would publish"), "\(unsent)")
            try await cluster.operate("sync", "terminate", cluster.app, "--yes", "--enable", "--watch")
            try device.create("afterwards")
            try await device.upload()
            let after = try await cluster.operateJSON(Verdict.self, "realms", "verify", "--app", cluster.app)
            expectTrue(after.replay == "equal" && after.objects == 21 && after.findingCount == 0)
            // The same without a cluster.
            await cluster.stop()
            let offline = try await cluster.operateJSON(Verdict.self, "store", "verify", "--app", cluster.app)
            expectTrue(offline.digest == after.digest && offline.findingCount == 0)
        }

        @Test func theDoctorFindsNothingWrongAndThenWhatIsMissing() async throws {
            let cluster = try SharedCluster.cluster
            struct Diagnosis: Decodable {
                var subject: String
                var level: String
                var finding: String
            }
            func examine() async throws -> [Diagnosis] {
                // The exit code tells of faults; what was found is wanted all the same.
                let text = try await cluster.shell("sh", ["-c", "'\(cluster.sluice)' doctor --json || true"])
                return try JSONDecoder().decode([Diagnosis].self, from: Data(text.utf8))
            }
            // The gateway listens where only this test knows. A machine that is busy is ill for as long, and says so.
            try await LocalCluster.retrying("nothing else is wrong") {
                let faults = try await examine().filter { $0.level == "fault" }
                guard faults.map(\.subject) == ["gateway"] else { throw LocalClusterError("\(faults)") }
            }
            // In order, so that nobody waits for a lease afterwards.
            for worker in ["worker-1", "worker-2"] { await cluster.stop(worker) }
            try await LocalCluster.retrying("the workers are missed") {
                let sick = try await examine()
                guard sick.contains(where: { $0.subject == "workers" && $0.level == "fault" }) else {
                    throw LocalClusterError("\(sick)")
                }
            }
        }
    }
}
