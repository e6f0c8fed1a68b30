import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing

extension SharedClusterTests {
    /// Terminations that follow each other faster than stock clients reset: every campaign ends all the same.
    @MainActor @Suite struct StockClientOvertakenTests {
        /// A stock client that resets step by step, with nothing unsynced.
        @MainActor
        private final class Client {
            let connection: StockConnection
            private(set) var file: StockFile
            private(set) var session: SessionIdent
            private var copy: StockFile?

            init(_ cluster: LocalCluster) async throws {
                (connection, file) = try await StockScenario.newcomer(cluster)
                session = 1
            }

            /// Waits for the client reset on the open session, and ends it.
            func leaveOnReset() async throws {
                try await connection.wait("the session is told to reset") { [session] in
                    $0.sessions[session]?.error?.code == 208
                }
                try await connection.send(.unbind(session: session))
            }

            /// Presents a client file that must reset.
            func present() async throws {
                session = try await connection.open(StockScenario.path, file)
                try await leaveOnReset()
            }

            /// Goes on under a fresh copy's ident that must reset in its turn.
            func presentCopy() async throws {
                guard let copy else { throw StockClientError("no fresh copy") }
                file = copy
                try await present()
            }

            func beginCopy() async throws {
                let copy = StockFile()
                session = try await connection.open(StockScenario.path, copy)
                self.copy = copy
            }

            func completeCopy() async throws {
                try await connection.download(session)
                try await leave()
            }

            /// Goes on under the fresh copy's ident.
            func merge() async throws {
                guard let copy else { throw StockClientError("no fresh copy") }
                session = try await connection.open(StockScenario.path, copy)
                file = copy
                try await connection.wait("the owner has answered IDENT") { [session] in
                    $0.sessions[session]?.downloads.isEmpty == false
                }
            }

            func finish() async throws {
                try await connection.download(session)
                try await leave()
            }

            func reset() async throws {
                try await beginCopy()
                try await completeCopy()
                try await merge()
                try await finish()
            }

            private func leave() async throws {
                try await connection.send(.unbind(session: session))
                try await connection.wait("UNBOUND") { [session] in $0.sessions[session]?.isUnbound == true }
            }
        }

        private static func terminateAndWatch(_ campaign: String, _ cluster: LocalCluster) async throws {
            try await cluster.operate(
                "sync", "terminate", cluster.app, "--yes", "--enable", "--campaign", campaign, "--watch")
        }

        /// Waits until every slice has said which client realms it found.
        nonisolated private static func counted(_ campaign: String, _ cluster: LocalCluster) async throws {
            try await LocalCluster.retrying("the client realms of \(campaign) are found") {
                let state = try await StockScenario.campaign(campaign, cluster).state
                guard state == "running" || state == "closed" else { throw LocalClusterError(state) }
            }
        }

        private static func closed(_ campaign: String, _ cluster: LocalCluster) async throws -> StockScenario.Campaign {
            let shown = try await StockScenario.campaign(campaign, cluster)
            expectTrue(shown.state == "closed" && shown.counts.pending == 0)
            let counts = shown.counts
            expectEqual(
                counts.found, counts.recovered + counts.discarded + counts.manual + counts.failed + counts.superseded)
            return shown
        }

        @Test func twoTerminationsAtOnceBothEnd() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let clients = [try await Client(cluster), try await Client(cluster)]
            let names = ["first", "second"].map { "\(cluster.app)-\($0)" }
            async let first: Void = Self.terminateAndWatch(names[0], cluster)
            async let second: Void = Self.terminateAndWatch(names[1], cluster)
            for client in clients { try await client.leaveOnReset() }
            for campaign in names { try await Self.counted(campaign, cluster) }
            for client in clients { try await client.reset() }
            // `--watch` ends by itself.
            _ = try await (first, second)
            let ended = [try await Self.closed(names[0], cluster), try await Self.closed(names[1], cluster)]
            // The later of the two has taken over what the other had found.
            expectEqual(ended.map(\.counts.recovered).sorted(), [0, 2])
            expectTrue(ended.contains { $0.counts.recovered == 2 && $0.counts.found == 2 && $0.counts.unproven == 2 })
            expectTrue(ended.allSatisfy { $0.counts.superseded == $0.counts.found - $0.counts.recovered })
        }

        @Test func aTerminationInTheMiddleOfResetsEndsBothCampaigns() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let merged = try await Client(cluster)
            let copying = try await Client(cluster)
            let copied = try await Client(cluster)
            let clients = [merged, copying, copied]
            let names = ["first", "second"].map { "\(cluster.app)-\($0)" }
            async let first: Void = Self.terminateAndWatch(names[0], cluster)
            for client in clients {
                try await client.leaveOnReset()
                try await client.beginCopy()
            }
            try await copied.completeCopy()
            try await merged.completeCopy()
            try await merged.merge()
            async let second: Void = Self.terminateAndWatch(names[1], cluster)
            try await merged.leaveOnReset()
            try await copying.leaveOnReset()
            try await Self.counted(names[1], cluster)
            try await merged.reset()
            try await copying.present()
            try await copying.reset()
            try await copied.presentCopy()
            try await copied.reset()
            _ = try await (first, second)
            let ended = [try await Self.closed(names[0], cluster), try await Self.closed(names[1], cluster)]
            expectTrue(ended[0].counts.found == 3 && ended[0].counts.superseded == 3)
            // What `copying` began and `copied` had was found beside the client realms themselves.
            expectTrue(ended[1].counts.found == 5 && ended[1].counts.superseded == 2 && ended[1].counts.recovered == 3)
        }
    }
}
