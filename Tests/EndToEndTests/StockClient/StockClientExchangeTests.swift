import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing

extension SharedClusterTests {
    /// What recorded stock clients say to each other through a whole cluster.
    @MainActor @Suite struct StockClientExchangeTests {
        @Test func firstConnectSuspendResumeAndANewProcessGoAsRecorded() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (player, _) = try await StockScenario.firstConnect(cluster)
            try await player.play(from: Recording("pbs-first-connect-and-resume").index(of: "unbind 1"))
            let a = try StockScenario.file(player, 2)
            expectEqual(a.image.value("Task", "b", "name")?.contains("changed"), true)
            // The client's own task never came back; the checker has seen to that entry by entry.
            expectTrue(!a.image.has("Task", "a"))
            let (_, late) = try await StockScenario.newcomer(cluster)
            expectTrue(late.image.has("Task", "a"))
            expectEqual(late.image.value("Task", "b", "name")?.contains("changed"), true)
        }

        @Test func recordedExchangesBringTheHistoryThatTheReferenceServerSent() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            for (name, clients) in [("pbs-two-clients", 2), ("pbs-three-clients", 3), ("pbs-compressed-bodies", 2)] {
                let player = RecordingPlayer(try Recording(name))
                for number in 1...clients { player.users[number] = try await StockUser(cluster) }
                player.path = "\"\(name)\""
                player.isExact = true
                try await player.play()
                try expectEqual(player.differences(), [], "\(name)")
            }
        }

        @Test func severalSessionsShareASocket() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let connection = try await StockUser(cluster).connect()
            let player = RecordingPlayer(
                try Recording("pbs-three-clients"), connections: [1: connection, 2: connection, 3: connection])
            player.path = "{\"$oid\":\"6560c0ffee6560c0ffee0001\"}"
            player.isExact = true
            try await player.play()
            try expectEqual(player.differences(), [])
            // Other partitions, in other slices, beside them on the same socket.
            var sessions: [SessionIdent] = []
            for path in ["null", "{\"$numberLong\":\"7\"}", "\"\""] {
                sessions.append(try await connection.open(path, StockFile()))
            }
            for session in sessions { try await connection.download(session) }
            let schema = try StockScenario.schemaOfTasks()
            for session in sessions {
                try await connection.upload(schema, session)
                try await connection.upload(StockScenario.task("of \(session)"), session)
            }
            for session in sessions {
                try await connection.send(.unbind(session: session))
                try await connection.wait("UNBOUND") { $0.sessions[session]?.isUnbound == true }
            }
            for (path, session) in zip(["null", "{\"$numberLong\":\"7\"}", "\"\""], sessions) {
                let file = StockFile()
                try await connection.download(try await connection.open(path, file))
                expectEqual(file.image.objects.count, 1)
                expectTrue(file.image.has("Task", "of \(session)"))
            }
        }

        @Test func anUploadSentAgainAfterALostSocketCountsOnce() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let (player, users) = try await StockScenario.firstConnect(cluster)
            let file = try StockScenario.file(player, 2)
            let old = try StockScenario.connection(player, 4)
            let version = ClientVersion(20)
            let before = file.progress
            let changeset = StockScenario.task("twice")
            try await old.send(.upload(changeset, version: version, session: 1, file: file))
            await old.close()
            // The client never saw the acknowledgement, if there was one.
            file.progress = before
            let again = try await users[0].connect()
            let session = try await again.open(StockScenario.path, file, session: 1)
            try await again.send(.upload(changeset, version: version, session: session, file: file))
            try await again.wait("it is acknowledged") { _ in file.progress.upload.clientVersion >= version }
            let b = try StockScenario.connection(player, 8)
            try await b.download(1)
            let other = try StockScenario.file(player, 3)
            expectTrue(other.image.has("Task", "twice"))
            let copies = try other.entries.filter {
                try $0.changeset.canonicalChangeset == changeset.canonicalChangeset
            }
            expectEqual(copies.count, 1)
        }
    }
}
