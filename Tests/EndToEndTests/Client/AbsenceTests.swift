import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

/// Clients that were away for longer than their app allows. The server's clocks are set forward, in a cluster of its own.
@Suite(.needsBroker, .hangGuard, .serialized)
struct AbsenceTests {
    private struct StoredRealm: Decodable {
        struct File: Decodable {
            var user: String
            var state: String
        }
        var files: [File]
    }

    @Test func longAbsentClientResetsAndKeepsItsOfflineWrites() async throws {
        try await withCluster(workers: 1, slices: 2) { try await comeBackTooLate($0) }
    }

    @MainActor private func comeBackTooLate(_ cluster: LocalCluster) async throws {
        try await cluster.makeApp("--max-offline-days", "1")
        let resets = Mutex(0)
        let errors = ErrorLog()
        let away = try await phone(
            of: cluster, .recoverUnsyncedChanges(afterReset: { _, _ in resets.withLock { $0 += 1 } }))
        App(id: cluster.app).syncManager.errorHandler = errors.handler
        let other = try await phone(of: cluster)
        try away.add("both sides", "deleted there")
        try await away.upload()
        try await other.download()
        try await away.suspend()
        try away.change("both sides") { $0.text = "ours" }
        try away.add("made away")
        // An owner looks for what has expired at its first tick, then not for minutes: none of the clock of today may be left in its queue,
        // where the upload comes after it.
        await cluster.stop("coordinator")
        try other.change("both sides") { $0.count = 7 }
        try other.delete("deleted there")
        try other.add("made there")
        try await other.upload()

        // What is ended for its age must be old by the clocks of both.
        let later = try twoDaysLater(cluster)
        await cluster.stop("worker-1")
        try await cluster.start(
            "coordinator", ["coordinator", "--port", "\(cluster.coordinatorPort)"], settings: later)
        try await cluster.start("worker-1", ["worker", "--id", "worker-1"], settings: later)
        try await eventually("the client file has expired") {
            // The coordinator may not listen yet.
            let realm = try? await cluster.operateJSON(
                StoredRealm.self, "realms", "show", "--app", cluster.app, "--realm", "home")
            return realm?.files.contains { $0.user == away.user.id && $0.state == "expired" } == true
        }
        try away.session.resume()
        // The client waits through the reset.
        try await away.upload()
        try await away.download()
        try await other.download()
        expectEqual(away.contents, ["both sides: ours, 7", "made away: first, 1", "made there: first, 1"])
        expectEqual(other.contents, away.contents)
        expectTrue(resets.withLock { $0 } == 1 && errors.errors.isEmpty)
        // And goes on as one that was never away.
        try other.add("later")
        try await other.upload()
        try await away.download()
        expectTrue(away.ids.contains("later") && resets.withLock { $0 } == 1)
    }

    @MainActor private func phone(
        of cluster: LocalCluster, _ mode: ClientResetMode = .recoverUnsyncedChanges()
    ) async throws -> Phone {
        let user = try await Device.user(of: cluster)
        return try await Phone(user, user.configuration(partitionValue: "home", clientResetMode: mode))
    }

    private func twoDaysLater(_ cluster: LocalCluster) throws -> [String: String] {
        let library = URL(fileURLWithPath: cluster.sluice).deletingLastPathComponent()
            .appendingPathComponent("libWrongClock.so").path
        try #require(FileManager.default.fileExists(atPath: library), "the product WrongClock is not built")
        return ["LD_PRELOAD": library, "WRONG_CLOCK_OFFSET": "\(2 * 86_400)"]
    }
}
