import Foundation
import LocalCluster
import TestSupport
import Testing

/// What an operator mistypes is refused, with the exit code that a script can act on.
@Suite(.needsBroker, .timeLimit(.minutes(5))) struct MistakeTests {
    /// How a command ends.
    private func outcome(
        _ cluster: LocalCluster, _ arguments: [String], settings: [String: String] = [:]
    ) async -> String {
        do {
            return try await Program.run(
                cluster.sluice, arguments, environment: cluster.environment.merging(settings) { $1 }, called: "sluice")
        } catch {
            return "\(error)"
        }
    }

    @Test func whatAnOperatorMistypesIsRefused() async throws {
        try await withCluster(workers: 1, slices: 2) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            func expect(
                _ code: Int, _ words: String, _ arguments: String..., settings: [String: String] = [:],
                sourceLocation: SourceLocation = #_sourceLocation
            ) async {
                let outcome = await outcome(cluster, arguments, settings: settings)
                #expect(
                    outcome.contains("exited with \(code):") && outcome.contains(words), "\(outcome)",
                    sourceLocation: sourceLocation)
            }
            await expect(66, "nope", "publish", "termination", "--app", "nope")
            await expect(
                65, "changeset 1 is none", "publish", "changeset", "--app", cluster.app, "--partition", "x", "--hex",
                "ff")
            await expect(66, "realm", "sync", "reset", cluster.app, "--partition", "nope")
            await expect(65, "changset", "tail", "--type", "changset", "--count", "1")
            await expect(65, "did you mean SLUICE_SLICES?", "worker", settings: ["SLUICE_SLICE": "2"])
            await expect(
                65, "coordinator.port", "coordinator", "--port", "\(cluster.coordinatorPort)")
            await expect(65, "gateway.port", "gateway", "--port", "\(cluster.gatewayPort)")
            let url = cluster.amqpURL.replacing(/:[^:@]*@/, with: ":wrong@")
            await expect(77, "broker", "dead-letters", "list", settings: ["SLUICE_AMQP_URL": url])
            await expect(
                69, "does not answer", "apps", "list", "--coordinator-url", "http://127.0.0.1:\(FreePort.next())")
            // Nothing of all that reached a worker.
            #expect(try await cluster.operate("dead-letters", "list", "--json") == "[]\n")
        }
    }

    @Test func aFileThatIsPublishedTwiceTakesEffectOnce() async throws {
        try await withCluster(workers: 1, slices: 2) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let file = "\(cluster.folder)/events.ndjson"
            let realm = #"{"app": "\#(cluster.app)", "partition": "x"}"#
            try #"{"id": "dog-7", "realm": \#(realm), "changesets": ["\#(OperatorTests.dog)"]}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            for _ in 0..<2 {
                let published = try await cluster.operate("publish", "changeset", "--file", file, "--json")
                #expect(published.contains(#""messageId":"dog-7""#))
            }
            struct Stored: Decodable { var version: Int }
            try await LocalCluster.retrying("the event is integrated") {
                _ = try await cluster.operate("realms", "show", "--app", cluster.app, "--realm", "x")
            }
            // One that comes last, so that both have been dealt with.
            try await cluster.operate(
                "publish", "changeset", "--app", cluster.app, "--partition", "x", "--hex", OperatorTests.dog)
            try await LocalCluster.retrying("the last event is integrated") {
                let realm = try await cluster.operateJSON(
                    Stored.self, "realms", "show", "--app", cluster.app, "--realm", "x")
                guard realm.version >= 2 else { throw LocalClusterError("version \(realm.version)") }
                #expect(realm.version == 2)
            }
        }
    }

    @Test func aWatchNamesWhatItFollowsAndWaitsForWhatIsNew() async throws {
        try await withCluster(workers: 1, slices: 2) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let none = await outcome(cluster, ["campaigns", "watch"])
            #expect(none.contains("exited with 66:") && none.contains("no campaign is open"))
            async let watched = cluster.operate("campaigns", "watch", "drill-1")
            try await Task.sleep(for: .milliseconds(500))
            try await cluster.operate("sync", "terminate", cluster.app, "--enable", "--campaign", "drill-1")
            #expect(try await watched.hasPrefix("campaign drill-1: termination of app \(cluster.app)\n"))
        }
    }

    @Test func whoIsStoppedWhileItWaitsForTheBrokerEndsInOrder() async throws {
        try await withCluster(workers: 1, slices: 2) { cluster in
            for role in ["worker", "coordinator", "gateway"] {
                try await cluster.start(
                    "waiting-\(role)", [role, "--operations-port", "0"] + (role == "worker" ? [] : ["--port", "0"]),
                    settings: ["SLUICE_AMQP_URL": "amqp://guest:guest@127.0.0.1:1/"])
            }
            try await Task.sleep(for: .seconds(3))
            for role in ["worker", "coordinator", "gateway"] {
                await cluster.stop("waiting-\(role)")
                let last = cluster.log(of: "waiting-\(role)").split(separator: "\n").last ?? ""
                #expect(last.contains("stopped"), "\(last)")
            }
        }
    }
}
