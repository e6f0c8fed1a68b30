import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests.ClientResetTests {
    /// Manual client resets of apps that have one handler, or none.
    @MainActor @Suite struct UnhandledResetTests {
        /// The mode's own handler or the manager's, whichever there is.
        @Test func theOneHandlerThatThereIsIsCalled() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp()
            let own = ErrorLog()
            let managers = ErrorLog()
            func reset(_ phone: Phone, _ log: ErrorLog) async throws {
                try phone.add("synced by \(phone.user.id)")
                try await phone.upload()
                try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
                try await eventually("the handler is called") { !log.errors.isEmpty }
                expectTrue(log.errors.map(\.code) == [.clientResetError] && log.users == [phone.user.id])
            }
            let first = try await Phone(of: app, .manual(errorHandler: own.handler))
            try await reset(first, own)
            App(id: app).syncManager.errorHandler = managers.handler
            let second = try await Phone(of: app, .manual())
            try await reset(second, managers)
            expectEqual(own.errors.count, 1)
        }

        /// Where there is no handler nothing happens to the realm before the next launch. That puts it away with what was not uploaded, and
        /// begins a new one, which syncs.
        @Test func aResetThatNobodyHandlesIsDoneAtTheNextLaunch() async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            let installed = try InstalledApp(id, of: cluster)
            await #expect(processExitsWith: .success) { [installed = installed as InstalledApp] in
                try await UnhandledResetTests.writeOffline(installed)
            }
            try await cluster.operate("sync", "terminate", id, "--yes", "--enable")
            await #expect(processExitsWith: .success) { [installed = installed as InstalledApp] in
                try await UnhandledResetTests.ignoreReset(installed)
            }
            expectTrue(Self.backups(of: installed).isEmpty)
            await #expect(processExitsWith: .success) { [installed = installed as InstalledApp] in
                try await UnhandledResetTests.beginAnew(installed)
            }
            let other = try await Phone(of: id)
            expectEqual(other.ids, ["goes on", "synced"])
        }

        private static func writeOffline(_ installed: InstalledApp) async throws {
            let phone = try await Phone(launched: installed.launchAndLogIn(), .manual(), downloadBeforeOpen: .always)
            try phone.add("synced")
            try await phone.upload()
            try await phone.suspend()
            try phone.add("offline")
        }

        private static func ignoreReset(_ installed: InstalledApp) async throws {
            let phone = try await Phone(launched: installed.launch(), .manual(), downloadBeforeOpen: .never)
            let session = try phone.session
            try await eventually("the session stops") { session.state == .inactive }
            expectEqual(phone.ids, ["offline", "synced"])
        }

        private static func beginAnew(_ installed: InstalledApp) async throws {
            let phone = try await Phone(launched: installed.launch(), .manual(), downloadBeforeOpen: .always)
            expectEqual(phone.ids, ["synced"])
            try phone.add("goes on")
            try await phone.upload()
            let backups = backups(of: installed)
            let backup = try #require(backups.first)
            expectEqual(backups.count, 1)
            var old = Realm.Configuration(fileURL: backup, objectTypes: [Chore.self])
            old.readOnly = true
            try await expectEqual(Phone(phone.user, old).ids, ["offline", "synced"])
        }

        private static func backups(of installed: InstalledApp) -> [URL] {
            let folder = installed.files.appendingPathComponent("recovered-realms")
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            return files?.filter { $0.lastPathComponent.hasPrefix("recovered_realm-") } ?? []
        }
    }
}
