import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import WireClient

extension SharedClusterTests {
    /// Tokens that do not hold, and how clients learn it.
    @MainActor @Suite struct StockClientTokenTests {
        @Test func aBadTokenIsToldByCloseCodeAndTheRecordedRefreshGoesOn() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let user = try await StockUser(cluster)
            let bad = user.withBadToken
            let refused = try await bad.connect()
            try await refused.wait("close 4001", mayEnd: true) { $0.closeCode == 4001 && $0.isEnded }
            let fresh = try await user.refreshed(cluster)
            let recording = try Recording("pbs-token-expired-and-close-codes")
            let (file, _) = try await Self.uploadedFile(user)
            let player = RecordingPlayer(recording)
            player.files = [2: file]
            player.users = [6: fresh, 9: try await user.refreshed(cluster), 12: fresh]
            try await player.play(from: Self.upgrade(6, recording), to: Self.upgrade(7, recording))
            try await player.play(from: Self.upgrade(9, recording))
            let (_, late) = try await StockScenario.newcomer(cluster)
            expectTrue(late.image.has("Task", "b"))
            expectTrue(late.image.has("Task", "c"))
        }

        @Test func clientsThatCannotReadCloseCodesGetAStatus() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let user = try await StockUser(cluster)
            func status(_ user: StockUser, offers: [Int]? = nil) async throws -> Int {
                let request = try user.upgradeRequest(offers: offers).request
                let (socket, answer) = try await StockSocket.open(port: user.port, request: request)
                await socket.close()
                return answer.status
            }
            try await expectEqual(status(user.withBadToken, offers: [7, 6, 5, 4, 3, 2]), 401)
            try await expectEqual(status(user, offers: [7, 6, 5, 4, 3, 2]), 400)
            try await expectEqual(status(user, offers: [14, 10]), 101)
            try await expectEqual(status(user.withBadToken), 101)
        }

        @Test func aLogoutEndsTheSocketAndTheUsersOtherSocketsOfThatLogin() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let user = try await StockUser(cluster)
            let (_, connection) = try await Self.uploadedFile(user)
            let bystander = try await StockScenario.newcomer(cluster)
            try await user.logOut(cluster)
            try await connection.wait("close 4001", mayEnd: true) { $0.closeCode == 4001 && $0.isEnded }
            let again = try await user.connect()
            try await again.wait("close 4001", mayEnd: true) { $0.closeCode == 4001 && $0.isEnded }
            await #expect(throws: StockClientError.self) { _ = try await user.refreshed(cluster) }
            try await bystander.connection.upload(StockScenario.task("still here"), 1)
        }

        /// The file that the recording's client has when it begins: one upload, of client version 3.
        @MainActor
        private static func uploadedFile(_ user: StockUser) async throws -> (StockFile, StockConnection) {
            let recording = try Recording("pbs-first-connect-and-resume")
            let player = RecordingPlayer(recording)
            player.users = [4: user]
            try await player.play(to: recording.index(of: "upload 1 0 0 0 6 2 2"))
            return (try StockScenario.file(player, 2), try StockScenario.connection(player, 4))
        }

        private static func upgrade(_ connection: Int, _ recording: Recording) throws -> Int {
            let index = recording.lines.firstIndex {
                if case .upgrade(connection, _) = $0 { true } else { false }
            }
            guard let index else { throw StockClientError("no connection \(connection)") }
            return index
        }
    }
}
