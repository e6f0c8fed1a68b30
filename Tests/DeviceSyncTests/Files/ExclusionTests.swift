import Foundation
import GRDB
import RealmState
import TestSupport
import Testing

@testable import DeviceSync

/// A realm is for one process at a time, and for nobody while it is deleted or backed up.
@Suite(.hangGuard)
struct ExclusionTests {
    /// What another process does with a realm.
    struct Visitor: Codable {
        var file: URL

        func open(isSynced: Bool) throws -> RealmCore {
            try RealmRegistry.open(.file(file)) { try RealmCore(location: $0, isSynced: isSynced) }
        }

        func isRefused(isSynced: Bool, _ code: Realm.Error.Code) -> Bool {
            do {
                _ = try open(isSynced: isSynced)
                return false
            } catch {
                return (error as? Realm.Error)?.code == code
            }
        }

        func readsOnly() throws -> Bool {
            var configuration = Realm.Configuration(fileURL: file)
            configuration.readOnly = true
            return try Realm(configuration: configuration).dynamicSchema.isEmpty
        }

        func isRefusedDeletion() -> Bool {
            do {
                try Realm.deleteFiles(for: Realm.Configuration(fileURL: file))
                return false
            } catch {
                return (error as? Realm.Error)?.code == .incompatibleLockFile
            }
        }
    }

    @Test(arguments: [(true, Realm.Error.Code.multipleSyncAgents), (false, .incompatibleLockFile)])
    func aSecondProcessIsRefused(isSynced: Bool, code: Realm.Error.Code) async throws {
        let folder = Folder()
        let visitor = Visitor(file: folder.file)
        let core = try visitor.open(isSynced: isSynced)
        await #expect(processExitsWith: .exitCode(17)) { [visitor = visitor as Visitor, isSynced = isSynced as Bool] in
            let code: Realm.Error.Code = isSynced ? .multipleSyncAgents : .incompatibleLockFile
            let isRight = visitor.isRefused(isSynced: isSynced, code) && visitor.isRefusedDeletion()
            exit(try visitor.readsOnly() && isRight ? 17 : 1)
        }
        withExtendedLifetime(core) {}
        expectTrue(FileManager.default.fileExists(atPath: folder.file.path))
    }

    @Test func aProcessThatIsKilledLetsGo() async throws {
        let folder = Folder()
        let visitor = Visitor(file: folder.file)
        await #expect(processExitsWith: .signal(SIGKILL)) { [visitor = visitor as Visitor] in
            let core = try visitor.open(isSynced: true)
            withExtendedLifetime(core) { _ = kill(getpid(), SIGKILL) }
        }
        #expect(throws: Never.self) { try visitor.open(isSynced: true) }
    }

    @Test func aFileThatSomebodyElseHasWrittenIsNotOverwritten() throws {
        let folder = Folder()
        let realm = try Realm(configuration: folder.configuration)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try RealmFileEdits.run("UPDATE meta SET value = CAST('99' AS BLOB) WHERE name = 'version'", on: realm)
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
        }
        expectEqual(error?.code, .incompatibleLockFile)
        expectEqual(realm.titles().keys.sorted(), ["a"])
    }

    /// Any thread may be starting a child: until that runs its program, it has a copy of every descriptor.
    @Test func aCopyOfTheLockInAChildKeepsNobodyAway() throws {
        let folder = Folder()
        try FileLayout.makeFolder(folder.url)
        let path = folder.file.path + ".lock"
        var copy: Int32 = -1
        do {
            let lock = try FileLock(folder.file, code: .multipleSyncAgents)
            let manager = FileManager.default
            let own = try manager.contentsOfDirectory(atPath: "/proc/self/fd").first {
                (try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
            }
            copy = dup(try #require(own.flatMap { Int32($0) }))
            withExtendedLifetime(lock) {}
        }
        defer { close(copy) }
        expectTrue(copy >= 0)
        #expect(throws: Never.self) { try FileLock(folder.file, code: .multipleSyncAgents) }
    }

    @Test func nobodyOpensARealmThatIsBeingDeleted() async throws {
        let folder = Folder()
        let visitor = Visitor(file: folder.file)
        try visitor.open(isSynced: false).file.close()
        let files = RealmFileSet(main: folder.file)
        let deletion = Gate()
        let deleting = Thread.start {
            _ = try RealmRegistry.whileClosed(files) {
                deletion.pass()
                try files.delete()
            }
        }
        await deletion.reached()
        let opening = Thread.start { _ = try visitor.open(isSynced: false) }
        await expectTrue(eventually { RealmRegistry.waitingCount(.file(folder.file)) == 1 })
        deletion.open()
        try await deleting.value
        try await opening.value
        expectTrue(files.exists)
    }

    @Test func theLockFileGoesWithTheRealm() throws {
        let folder = Folder()
        try Visitor(file: folder.file).open(isSynced: false).file.close()
        expectTrue(FileManager.default.fileExists(atPath: folder.file.path + ".lock"))
        try expectTrue(Realm.deleteFiles(for: Realm.Configuration(fileURL: folder.file)))
        try expectTrue(FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
}
