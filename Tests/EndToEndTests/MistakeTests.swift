import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// What an operator mistypes is refused, with the exit code that a script can act on.
    @Suite struct MistakeTests {
        /// How a command ends.
        private func outcome(
            _ cluster: LocalCluster, _ arguments: [String], settings: [String: String] = [:]
        ) async -> String {
            do {
                return try await Program.run(
                    cluster.sluice, arguments, environment: cluster.environment.merging(settings) { $1 },
                    called: "sluice")
            } catch {
                return "\(error)"
            }
        }

        @Test func operatorsMistakesAreRefused() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            func expect(
                _ code: Int, _ words: String, _ arguments: String..., settings: [String: String] = [:],
                sourceLocation: SourceLocation = #_sourceLocation
            ) async {
                let outcome = await outcome(cluster, arguments, settings: settings)
                #expect(
                    outcome.contains("exited with \(code):") && outcome.contains(words), "\(outcome)",
                    sourceLocation: sourceLocation)
            }
            await expect(66, "nope", "publish", "termination", "--yes", "--app", "nope")
            await expect(
                65, "changeset 1 is none", "publish", "changeset", "--app", cluster.app, "--partition", "x", "--hex",
                "ff")
            await expect(66, "realm", "sync", "reset", cluster.app, "--yes", "--partition", "nope")
            await expect(66, "realm", "sync", "reset", cluster.app, "--dry-run", "--partition", "nope")
            // What makes clients reset asks first, and a script says that it may.
            await expect(65, "add --yes", "sync", "terminate", cluster.app)
            await expect(65, "add --yes", "publish", "termination", "--app", cluster.app)
            let event = cluster.file("termination.ndjson")
            try "{\"app\": \"\(cluster.app)\"}".write(toFile: event, atomically: true, encoding: .utf8)
            await expect(65, "stopped at line 1", "publish", "termination", "--file", event)
            let nothing = cluster.file("nothing.ndjson")
            try "\n".write(toFile: nothing, atomically: true, encoding: .utf8)
            await expect(65, "there is no event", "publish", "write", "--file", nothing)
            await expect(65, "makes no backup", "backup", "/nowhere", "--made-elsewhere")
            await expect(65, "expected one of partition", "realms", "list", "--sort", "size")
            await expect(65, "changset", "tail", "--type", "changset", "--count", "1")
            await expect(65, "did you mean SLUICE_SLICES?", "worker", settings: ["SLUICE_SLICE": "2"])
            await expect(
                65, "coordinator.port", "coordinator", "--port", "\(cluster.coordinatorPort)")
            await expect(65, "gateway.port", "gateway", "--port", "\(cluster.gatewayPort)")
            let url = cluster.amqpURL.replacing(/:[^:@]*@/, with: ":wrong@")
            await expect(77, "broker", "broker", "queues", settings: ["SLUICE_AMQP_URL": url])
            let nobody = "http://127.0.0.1:\(FreePort.next())"
            await expect(
                69, "does not answer: the connection is refused", "apps", "list", "--coordinator-url", nobody)
            // The next of several coordinators is asked.
            await expect(
                66, "no-such-app", "apps", "show", "no-such-app", "--coordinator-url",
                "\(nobody),http://127.0.0.1:\(cluster.coordinatorPort)")
            // Nothing of all that reached a worker. Other suites have letters of their apps.
            struct Letter: Decodable { var app: String? }
            let letters = try await cluster.operateJSON([Letter].self, "dead-letters", "list")
            expectEqual(
                letters.filter { $0.app == cluster.app || $0.app?.hasPrefix("\(cluster.prefix)-") != true }.map(\.app),
                [])
        }

        @Test func aFileThatIsPublishedTwiceTakesEffectOnce() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let file = cluster.file("events.ndjson")
            let realm = #"{"app": "\#(cluster.app)", "partition": "x"}"#
            try #"{"id": "dog-7", "realm": \#(realm), "changesets": ["\#(changesetOfADog)"]}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            for _ in 0..<2 {
                let published = try await cluster.operate("publish", "changeset", "--file", file, "--json")
                expectTrue(published.contains(#""messageId":"dog-7""#))
            }
            struct Stored: Decodable { var version: Int }
            try await LocalCluster.retrying("the event is integrated") {
                _ = try await cluster.operate("realms", "show", "--app", cluster.app, "--realm", "x")
            }
            // Another event comes last, so that both have been dealt with.
            try await cluster.operate(
                "publish", "changeset", "--app", cluster.app, "--partition", "x", "--hex", changesetOfADog)
            try await LocalCluster.retrying("the last event is integrated") {
                let realm = try await cluster.operateJSON(
                    Stored.self, "realms", "show", "--app", cluster.app, "--realm", "x")
                guard realm.version >= 2 else { throw LocalClusterError("version \(realm.version)") }
                expectEqual(realm.version, 2)
            }
        }

        @Test func processesStoppedWhileWaitingForTheBrokerEndCleanly() async throws {
            let cluster = try SharedCluster.cluster
            let roles = ["worker", "coordinator", "gateway"]
            for role in roles {
                try await cluster.start(
                    "waiting-\(role)", [role, "--operations-port", "0"] + (role == "worker" ? [] : ["--port", "0"]),
                    settings: ["SLUICE_AMQP_URL": "amqp://guest:guest@127.0.0.1:1/"])
            }
            for role in roles { try await cluster.waitFor("waiting-\(role)", ready: false) }
            for role in roles {
                await cluster.stop("waiting-\(role)")
                let last = cluster.log(of: "waiting-\(role)").split(separator: "\n").last ?? ""
                expectTrue(last.contains("stopped"), "\(last)")
            }
        }

        @Test func aWatchNamesWhatItFollowsAndWaitsForWhatIsNew() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let campaign = "drill-\(cluster.app)"
            let proxy = TCPProxy(targets: [.init(port: cluster.coordinatorPort)])
            try await proxy.start()
            async let watched = cluster.operate(
                "campaigns", "watch", campaign, "--coordinator-url", "http://127.0.0.1:\(proxy.port)")
            try await eventually("the command asks for it") { proxy.isInUse }
            try await cluster.operate("sync", "terminate", cluster.app, "--yes", "--enable", "--campaign", campaign)
            try await expectTrue(watched.hasPrefix("campaign \(campaign): termination of app \(cluster.app)\n"))
            await proxy.stop()
        }
    }
}
