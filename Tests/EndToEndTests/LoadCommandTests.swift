import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// `sluice load` against a gateway.
    @Suite struct LoadCommandTests {
        private struct Report: Decodable {
            struct Latency: Decodable {
                var count: Int
                var p99: Double?
            }
            var opened: Int
            var sent: Int
            var notAcknowledged: Int
            var notDelivered: Int
            var failures: [String: Int]
            var acknowledging: Latency
            var delivering: Latency?
            var shortfalls: [String]
        }

        private func run(_ cluster: LocalCluster, _ arguments: [String]) async throws -> Report {
            try await cluster.operateJSON(
                Report.self,
                ["load", "--gateway", cluster.gatewayURL, "--seconds", "2", "--warm-up", "0", "--patience", "120"]
                    + arguments)
        }

        @Test func clientsThatShareRealmsGetEachOthersWrites() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let report = try await run(
                cluster, ["--app", cluster.app, "--clients", "6", "--sharing", "3", "--users", "2", "--rate", "4"])
            expectEqual(report.shortfalls, [], "\(report)")
            expectEqual(report.opened, 6)
            expectTrue(report.sent > 0 && report.acknowledging.count == report.sent, "\(report)")
            expectEqual(report.delivering?.count, report.sent * 2)
            expectTrue(report.acknowledging.p99 != nil)
        }

        @Test func clientsOfAFlexibleAppGetWhatTheySubscribeTo() async throws {
            let cluster = try SharedCluster.cluster
            let app = "load-\(UInt32.random(in: 0 ... .max))"
            _ = try await cluster.operate("apps", "create", app, "--sync-mode", "flexible", "--rules", "open")
            let report = try await run(
                cluster,
                ["--app", app, "--flexible", "--clients", "4", "--sharing", "2", "--users", "1", "--rate", "4"])
            expectEqual(report.shortfalls, [], "\(report)")
            expectTrue(report.sent > 0 && report.notDelivered == 0, "\(report)")
        }

        @Test func aRunThatFallsShortSaysSo() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            do {
                _ = try await run(
                    cluster, ["--app", cluster.app, "--clients", "2", "--rate", "2", "--max-acknowledged", "0.001"])
                Issue.record("a demand that nothing can meet was met")
            } catch {
                expectTrue("\(error)".contains("exited with 1"), "\(error)")
            }
        }
    }
}
