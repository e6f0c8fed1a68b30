import Foundation
import GRDB
import TestSupport
import Testing

@testable import DeviceSync

/// The file of users and tokens on a disk that fails.
@Suite(.hangGuard)
struct MetadataStoreTests {
    private func withFile(_ body: (URL) throws -> Void) throws {
        let folder = Folder()
        try FileLayout.makeFolder(folder.url)
        try body(folder.url.appendingPathComponent("sync_metadata.realm"))
    }

    /// Puts something in the file's place that cannot be opened, as when there are no file descriptors left. It takes the place in one
    /// step: an app that opens the file just then must not make it anew.
    private func block(_ file: URL) throws {
        let folder = file.path + ".folder"
        let link = file.path + ".link"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
        try FileManager.default.linkItem(atPath: file.path, toPath: file.path + ".hidden")
        try #require(rename(link, file.path) == 0)
    }

    private func unblock(_ file: URL) throws {
        try #require(rename(file.path + ".hidden", file.path) == 0)
    }

    @Test func aFileThatCannotBeOpenedNowIsNeitherMovedNorReplaced() throws {
        try withFile { file in
            let first = MetadataStore(file: file)
            try first.save(UserRecord(id: "u", refreshToken: "r"), makeCurrent: true)
            try first.close()
            try block(file)
            let store = MetadataStore(file: file)
            #expect(throws: DatabaseError.self) { try store.users() }
            expectTrue(!FileManager.default.fileExists(atPath: file.path + ".damaged"))
            try unblock(file)
            try expectEqual(store.users().map(\.id), ["u"])
            try expectEqual(store.currentUserID(), "u")
        }
    }

    @Test func damagedFilesAreSetAsideWithTheirLogsAndNeverOverwritten() throws {
        try withFile { file in
            for text in ["first ", "second "] {
                let bytes = Data(String(repeating: text, count: 500).utf8)
                try bytes.write(to: file)
                try Data(text.utf8).write(to: URL(fileURLWithPath: file.path + "-wal"))
                let store = MetadataStore(file: file)
                try expectTrue(store.users().isEmpty)
                try store.close()
            }
            for (name, text) in [(".damaged", "first "), (".damaged-2", "second ")] {
                let contents = FileManager.default.contents(atPath: file.path + name)
                expectEqual(contents?.starts(with: Data(text.utf8)), true)
                expectEqual(FileManager.default.contents(atPath: file.path + name + "-wal"), Data(text.utf8))
            }
        }
    }

    @Test func anAppWhoseFileCannotBeReadHasItsUserOnceItCan() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let file = device.app.core.layout.metadataFile
        try device.app.core.store.close()
        try block(file)
        device.relaunch()
        expectTrue(device.app.currentUser == nil)
        expectTrue(device.app.allUsers.isEmpty)
        await #expect(throws: AppError.self) { try await device.login() }
        try unblock(file)
        expectEqual(device.app.currentUser?.id, user.id)
        expectTrue(device.app.currentUser?.refreshToken != nil)
    }

    @Test func aLoginThatCannotBeKeptIsAnErrorOfTheApp() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        expectTrue(device.app.currentUser == nil)
        let file = device.app.core.layout.metadataFile.path
        try RealmFileEdits.run("ALTER TABLE users RENAME TO hidden", at: file)
        let error = await #expect(throws: AppError.self) { try await device.login() }
        expectEqual(error?.message.contains(file), true)
        expectTrue(device.app.currentUser == nil)
        try RealmFileEdits.run("ALTER TABLE hidden RENAME TO users", at: file)
        let user = try await device.login()
        expectEqual(device.app.currentUser?.id, user.id)
    }
}
