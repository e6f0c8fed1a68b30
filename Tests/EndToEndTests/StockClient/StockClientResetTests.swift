import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing

extension SharedClusterTests {
    /// Terminations as recorded stock clients live through them, and what the operator's campaign makes of it.
    @MainActor @Suite struct StockClientResetTests {
        @Test func clientsAwayAndLiveRecoverAndTheCampaignSaysSo() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (setUp, _) = try await StockScenario.firstConnect(cluster)
            let away = try await Self.suspended(setUp, connection: 4, file: 2, "pbs-client-reset-recover")
            let live = try await Self.suspended(setUp, connection: 8, file: 3, "pbs-client-reset-recover")
            let recording = try Recording("pbs-client-reset-recover")
            let error = try recording.index(of: "json_error", from: false)
            // B is back before the termination, A comes after it.
            try await live.play(to: error)
            try await StockScenario.connection(setUp, 8).download(2)
            let campaign = try await StockScenario.terminate(cluster)
            try await live.play(from: error)
            // The other's recovered writes are in its fresh copy.
            away.isContested = true
            try await away.play()
            let idents = try [away, live].map { try StockScenario.file($0, 2).identity?.ident }
            for (player, ident) in zip([away, live], idents) {
                let realm = try await StockScenario.outcome("recovered", of: try #require(ident), in: campaign, cluster)
                expectEqual(realm.report?.evidence, "inferred")
                expectEqual(realm.report?.result, "recovered")
                expectTrue(realm.report?.identNew == (try StockScenario.file(player, 4).identity?.ident.rawValue))
                expectEqual(realm.report?.changesets?.recovered, 2)
                expectEqual(realm.partition, StockScenario.path)
            }
            // The campaign reports who was told beside what came of it.
            let shown = try await StockClientError.within("both are said to have been told") {
                () async throws -> StockScenario.Campaign? in
                let shown = try await StockScenario.campaign(campaign, cluster)
                // The last of the slices says that it has nobody when it comes to it.
                return shown.counts.notified == 2 && shown.state == "closed" ? shown : nil
            }
            expectEqual(shown.counts.found, 2)
            expectEqual(shown.counts.recovered, 2)
            expectEqual(shown.counts.pending, 0)
            let (_, late) = try await StockScenario.newcomer(cluster)
            expectEqual(late.image.value("Task", "a", "name")?.contains("offline-edit"), true)
            expectTrue(late.image.has("Task", "b"))
            expectTrue(late.image.has("Task", "offline"))
        }

        @Test func withRecoveryOffTheRecordedClientDiscards() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (setUp, _) = try await StockScenario.firstConnect(cluster)
            try await cluster.operate("apps", "set", cluster.app, "--no-client-recovery")
            let name = "pbs-client-reset-no-recovery-discard"
            let player = try await Self.suspended(setUp, connection: 4, file: 2, name)
            let campaign = try await StockScenario.terminate(cluster)
            try await player.play()
            let ident = try #require(try StockScenario.file(player, 2).identity?.ident)
            let realm = try await StockScenario.outcome("discarded", of: ident, in: campaign, cluster)
            expectEqual(realm.report?.evidence, "inferred")
            let (_, late) = try await StockScenario.newcomer(cluster)
            expectTrue(late.image.has("Task", "a"))
            expectTrue(!late.image.has("Task", "offline"))
        }

        @Test func aMergeThatFailsIsAFailure() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (setUp, _) = try await StockScenario.firstConnect(cluster)
            let player = try await Self.suspended(setUp, connection: 4, file: 2, "pbs-client-reset-merge-fails")
            let campaign = try await StockScenario.terminate(cluster)
            try await player.play()
            let ident = try #require(try StockScenario.file(player, 2).identity?.ident)
            let realm = try await StockScenario.outcome("failed", of: ident, in: campaign, cluster)
            expectEqual(realm.report?.evidence, "inferred")
        }

        @Test func aManualResetIsSeenAtTheNextLaunch() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (setUp, users) = try await StockScenario.firstConnect(cluster)
            let player = try await Self.suspended(
                setUp, connection: 4, file: 2, "pbs-client-reset-manual-and-relaunch")
            player.users = [9: users[0]]
            player.processes = ["A": [4]]
            let campaign = try await StockScenario.terminate(cluster)
            try await player.play()
            let ident = try #require(try StockScenario.file(player, 2).identity?.ident)
            let realm = try await StockClientError.within("it is handled") {
                () async throws -> StockScenario.Campaign.ClientRealm? in
                let realm = try await StockScenario.outcome("manual", of: ident, in: campaign, cluster)
                return realm.report?.result == "manualHandled" ? realm : nil
            }
            expectEqual(realm.report?.evidence, "inferred")
        }

        @Test func whileSyncIsOffClientsAreToldToWait() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (setUp, _) = try await StockScenario.firstConnect(cluster)
            let player = try await Self.suspended(setUp, connection: 4, file: 2, "pbs-client-reset-recover")
            let connection = try StockScenario.connection(setUp, 4)
            let campaign = try await StockScenario.terminate(cluster, enable: false)
            // The client realm that it has, and a new one.
            for (file, code, action) in [
                (try StockScenario.file(setUp, 2), 201, ErrorAction.warning), (StockFile(), 229, .transient),
            ] {
                let needsIdent = file.identity == nil
                // The gateway hears of it a moment after the command has ended; until then it asks for a reset.
                _ = try await StockClientError.within("BIND is answered with \(code)") { () async throws -> Bool? in
                    try await connection.send(
                        .bind(Bind(session: 9, target: StockScenario.path, needsIdent: needsIdent)), file: file)
                    try await connection.wait("an answer to BIND") { $0.sessions[9]?.error != nil }
                    try await connection.send(.unbind(session: 9))
                    return connection.sessions[9]?.error?.code == code ? true : nil
                }
                let error = connection.sessions[9]?.error
                expectEqual(error?.body.action, action)
                expectEqual(error?.body.tryAgain, true)
                expectEqual(error?.body.backoff?.intervalSeconds, 5)
            }
            try await cluster.operate("sync", "enable", cluster.app)
            // The gateway hears of it a moment later; a client would come back after its 5 seconds.
            _ = try await StockClientError.within("the gateway knows") { () async throws -> Bool? in
                try await connection.send(
                    .bind(Bind(session: 9, target: StockScenario.path, needsIdent: true)), file: StockFile())
                try await connection.wait("an answer to BIND") {
                    $0.sessions[9]?.error != nil || $0.sessions[9]?.isBoundWithIdent == true
                }
                try await connection.send(.unbind(session: 9))
                guard connection.sessions[9]?.error == nil else { return nil }
                try await connection.wait("UNBOUND") { $0.sessions[9]?.isUnbound == true }
                return true
            }
            try await player.play()
            let ident = try #require(try StockScenario.file(player, 2).identity?.ident)
            _ = try await StockScenario.outcome("recovered", of: ident, in: campaign, cluster)
        }

        /// A player of a reset for a client of the first connection that has suspended its session.
        @MainActor
        private static func suspended(
            _ setUp: RecordingPlayer, connection number: Int, file ident: FileIdent, _ name: String
        ) async throws -> RecordingPlayer {
            let connection = try StockScenario.connection(setUp, number)
            try await connection.send(.unbind(session: 1))
            try await connection.wait("UNBOUND") { $0.sessions[1]?.isUnbound == true }
            let player = RecordingPlayer(try Recording(name), connections: [4: connection])
            player.files = [2: try StockScenario.file(setUp, ident)]
            player.processes = ["A": [4]]
            player.uploadAge = 60_000
            return player
        }
    }
}
