import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests.OpeningTests {
    /// What an app finds when it is launched again: each launch is a process of its own.
    @MainActor @Suite struct RelaunchTests {
        /// A user who has logged in once is known at every launch, with the same data. Nobody logs in again: at first
        /// there is no server, and then one that lets nobody in any more.
        @Test(.ownGateway) func sameDataIsFoundAtEveryLaunchAfterOneLogin() async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            let installed = try InstalledApp(id, of: cluster)
            let other = try await Phone(of: id)
            await #expect(processExitsWith: .success) { [installed = installed as InstalledApp] in
                try await RelaunchTests.logIn(installed)
            }

            try await TestGateway.mine.kill()
            await #expect(processExitsWith: .success) { [installed = installed as InstalledApp] in
                try await RelaunchTests.writeOffline(installed)
            }

            try await TestGateway.mine.start()
            try await cluster.operate("logins", "remove", id, "custom-token", "--yes")
            try other.session.reconnect()
            try other.add("written meanwhile")
            try await other.upload()
            await #expect(processExitsWith: .success) { [installed = installed as InstalledApp] in
                try await RelaunchTests.comeBack(installed)
            }
            try await other.download()
            expectEqual(other.ids, ["written at first", "written meanwhile", "written offline"])
        }

        private static func logIn(_ installed: InstalledApp) async throws {
            expectTrue(installed.launch().currentUser == nil)
            let phone = try await Phone(launched: installed.launchAndLogIn(), downloadBeforeOpen: .always)
            try phone.add("written at first")
            try await phone.upload()
        }

        private static func writeOffline(_ installed: InstalledApp) async throws {
            let phone = try await Phone(launched: installed.launch(), downloadBeforeOpen: .never)
            expectTrue(phone.user.isLoggedIn && phone.ids == ["written at first"])
            try phone.add("written offline")
        }

        private static func comeBack(_ installed: InstalledApp) async throws {
            let phone = try await Phone(launched: installed.launch(), downloadBeforeOpen: .always)
            expectEqual(phone.ids, ["written at first", "written meanwhile", "written offline"])
            try await phone.upload()
        }

        /// Anybody who has these files is logged in: they are for the owner alone.
        @Test func nobodyElseOnTheMachineCanReadWhoIsLoggedIn() async throws {
            let id = try await SharedCluster.cluster.newApp()
            let phone = try await Phone(of: id)
            expectTrue(phone.user.isLoggedIn)
            let folder = Realm.Configuration.baseDirectory
                .appendingPathComponent("mongodb-realm/\(id)/server-utility/metadata").path
            func mode(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            try expectEqual(mode(folder), 0o700)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            expectTrue(files.contains("sync_metadata.realm"))
            for file in files { try expectEqual(mode("\(folder)/\(file)"), 0o600, "\(file)") }
        }
    }
}
