import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Openings at the same time: of one file, which must share a core, and of others, which must not wait.
@Suite(.hangGuard)
struct ConcurrentOpeningTests {
    /// A realm's file whose opening lasts until `lock.release()`.
    private struct SlowFile {
        let folder = Folder()
        let lock: LockedFile
        var configuration: Realm.Configuration { folder.configuration }
        var location: RealmCore.Location { .file(folder.file) }

        init(damagedBy sql: String? = nil) throws {
            try Self.make(folder.configuration)
            if let sql { try RealmFileEdits.run(sql, at: folder.file.path) }
            lock = try LockedFile(folder.file)
        }

        private static func make(_ configuration: Realm.Configuration) throws {
            _ = try Realm(configuration: configuration)
        }

        func isOpening(waiting count: Int) async -> Bool {
            await eventually { RealmRegistry.waitingCount(location) == count }
        }
    }

    /// Opens the realm on a thread, in a task, and in another task.
    private func openThrice(_ file: SlowFile) async -> [Task<Realm, any Error>] {
        let configuration = file.configuration
        let first = Task { try await Realm(configuration: configuration) }
        await expectTrue(file.isOpening(waiting: 0))
        let others = [
            Task { try await Realm(configuration: configuration) },
            Thread.start { try Realm(configuration: configuration) },
        ]
        await expectTrue(file.isOpening(waiting: 2))
        return [first] + others
    }

    @Test func otherFilesOpenWhileOneIsBeingOpened() async throws {
        let file = try SlowFile()
        let configuration = file.configuration
        let slow = Task { try await Realm(configuration: configuration) }
        await expectTrue(file.isOpening(waiting: 0))
        let other = Folder()
        let realm = try await Realm(configuration: other.configuration)
        try expectTrue(Realm.openNow(other.configuration).instance.core === realm.instance.core)
        expectEqual(RealmRegistry.waitingCount(file.location), 0)
        try file.lock.release()
        try await expectTrue(slow.value.isEmpty)
    }

    @Test func otherFilesOpenWhileOneIsBackedUpOrDeleted() async throws {
        let folder = Folder()
        let gate = Gate()
        let files = RealmFileSet(main: folder.file)
        let deleting = Thread.start { try RealmRegistry.whileClosed(files) { gate.pass() } }
        await gate.reached()
        try await expectTrue(Realm(configuration: Folder().configuration).isEmpty)
        gate.open()
        try await expectTrue(deleting.value != nil)
    }

    @Test func openingsOfOneFileAtOnceShareOneCore() async throws {
        let file = try SlowFile()
        let openings = await openThrice(file)
        try file.lock.release()
        let core = try await openings[0].value.instance.core
        for opening in openings { try await expectTrue(opening.value.instance.core === core) }
    }

    @Test func anOpeningThatFailsFailsThoseThatWaitedForIt() async throws {
        let file = try SlowFile(damagedBy: "UPDATE meta SET value = x'FFFF' WHERE name = 'schema'")
        let openings = await openThrice(file)
        try file.lock.release()
        for opening in openings {
            let error = await #expect(throws: Realm.Error.self) { try await opening.value }
            expectEqual(error?.code, .invalidDatabase)
        }
        expectTrue(RealmRegistry.waitingCount(file.location) == nil)
    }

    /// More than there are threads.
    @Test func openingsThatWaitForAnotherTakeNoThreads() async throws {
        let file = try SlowFile()
        let configuration = file.configuration
        let openings = (0..<600).map { _ in Task { try await Realm(configuration: configuration).instance.core } }
        await expectTrue(file.isOpening(waiting: 599))
        try await expectTrue(Realm(configuration: Folder().configuration).isEmpty)
        try file.lock.release()
        let core = try await openings[0].value
        for opening in openings { try await expectTrue(opening.value === core) }
    }

    @Test func aUserWhoLogsOutWhileTheFileIsOpenedEndsADownloadingOpen() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let configuration = try device.configuration()
        try make(configuration)
        let url = try #require(configuration.fileURL)
        await expectTrue(eventually { !RealmFileSet(main: url).isOpen })
        let lock = try LockedFile(url)
        let opening = Task { try await Realm(configuration: configuration, downloadBeforeOpen: .always) }
        await expectTrue(eventually { RealmRegistry.waitingCount(.file(url)) == 0 })
        try await user.logOut()
        try lock.release()
        let error = await #expect(throws: SyncError.self) { try await opening.value }
        expectEqual(error?.code, .clientUserError)
    }

    private func make(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        realm.syncSession?.suspend()
    }
}
