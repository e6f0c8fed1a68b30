import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Keys that do not fit the file, or nothing.
@Suite(.hangGuard)
struct EncryptionKeyTests {
    /// A file as a crash leaves it, with contents in its log: nothing but a fitting key may touch either.
    private func crashed(_ configuration: (Folder) -> Realm.Configuration) throws -> Folder {
        let folder = Folder()
        let realm = try Realm(configuration: configuration(folder))
        try realm.writeMarkedObjects()
        return try folder.copied()
    }

    private func message(_ folder: Folder, _ key: Data?) -> String {
        var configuration = folder.configuration
        configuration.encryptionKey = key
        let before = folder.bytes
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        expectTrue(error?.code == .invalidDatabase && error?.fileURL?.lastPathComponent == "a.realm")
        for name in ["a.realm", "a.realm-wal"] { expectTrue(folder.bytes[name] == before[name] && before[name] != nil) }
        return error?.message ?? ""
    }

    @Test func anotherKeyOrNoneIsAnErrorThatTouchesNothing() throws {
        let folder = try crashed(\.encrypted)
        expectTrue(message(folder, PlainText.otherKey).contains("encrypted with another key"))
        expectTrue(message(folder, nil).contains("is encrypted: open it with the encryptionKey"))
        try expectEqual(Realm(configuration: folder.encrypted).titles().count, 100)
    }

    @Test func aKeyForAPlainFileIsAnErrorThatTouchesNothing() throws {
        let folder = try crashed(\.configuration)
        expectTrue(message(folder, PlainText.key).contains("writeCopy"))
        try expectEqual(Realm(configuration: folder.configuration).titles().count, 100)
    }

    @Test func aFileThatIsNoRealmIsAnErrorThatTouchesNothing() throws {
        let folder = Folder()
        try FileLayout.makeFolder(folder.url)
        for suffix in ["", "-wal"] {
            try Data("not a realm, and longer than what is looked at".utf8).write(
                to: URL(fileURLWithPath: folder.file.path + suffix))
        }
        expectTrue(message(folder, PlainText.key).contains("no realm"))
    }

    @Test(arguments: [0, 32, 63, 65]) func aKeyHas64Bytes(length: Int) throws {
        let folder = Folder()
        var configuration = folder.configuration
        configuration.encryptionKey = Data(repeating: 1, count: length)
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        expectTrue(error?.code == .invalidInput && error?.message.contains("64 bytes") == true)
        expectEqual(error?.message.contains("has \(length)"), true)
        let realm = try Realm(configuration: folder.configuration)
        configuration.fileURL = folder.url.appendingPathComponent("copy.realm")
        let copying = #expect(throws: Realm.Error.self) { try realm.writeCopy(configuration: configuration) }
        expectTrue(copying?.code == .invalidInput && !Realm.fileExists(for: configuration))
    }

    @Test func aRealmInMemoryHasNoKey() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: "a", encryptionKey: PlainText.key)
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        expectEqual(error?.code, .invalidInput)
    }

    @Test func noKeyIsInADescription() {
        let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: "/a.realm"), encryptionKey: PlainText.key)
        expectTrue(!"\(configuration)".contains(PlainText.key.base64EncodedString()))
        expectTrue(!"\(configuration)".contains("64"))
    }
}
