internal import Crypto
internal import Foundation
import SyncModel

/// Where the files of one app are (docs/client.md, "Users").
struct FileLayout: Sendable, Hashable {
    /// `<base>/mongodb-realm/<app>`.
    let root: URL

    init(base: URL, appID: String) {
        root = base.appendingPathComponent("mongodb-realm").appendingPathComponent(Self.percentEncoded(appID))
    }

    var metadataFile: URL { root.appendingPathComponent("server-utility/metadata/sync_metadata.realm") }
    var backupFolder: URL { root.appendingPathComponent("recovered-realms") }

    func userFolder(_ userID: String) -> URL { root.appendingPathComponent(Self.percentEncoded(userID)) }

    func realmFile(userID: String, target: SyncTarget) -> URL {
        var name = target.fileName
        // 255 bytes is what file systems allow; what stands beside the file has longer names.
        if name.utf8.count > 200 { name = HexBytes(Array(SHA256.hash(data: Data(name.utf8)))).hex }
        return userFolder(userID).appendingPathComponent(name + ".realm")
    }

    /// A backup path that no file has, `recovered_realm-YYYYMMDD-HHMMSS-XXXXXXXX`.
    func reserveBackup(at now: Date = Date()) throws -> URL {
        try Self.makeFolder(backupFolder)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyyMMdd-HHmmss"
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        while true {
            let suffix = String((0..<8).map { _ in alphabet.randomElement() ?? "A" })
            let url = backupFolder.appendingPathComponent("recovered_realm-\(formatter.string(from: now))-\(suffix)")
            if !FileManager.default.fileExists(atPath: url.path) { return url }
        }
    }

    static func makeFolder(_ url: URL) throws {
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Realm.Error(.fileOperationFailed, "the folder could not be made: \(error)", fileURL: url)
        }
    }

    private static let fileNameCharacters = CharacterSet(
        charactersIn: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.")

    static func percentEncoded(_ text: String) -> String {
        // A dot is fine inside a name, but `.` and `..` are not names.
        if text == "." || text == ".." { return text.replacingOccurrences(of: ".", with: "%2E") }
        return text.addingPercentEncoding(withAllowedCharacters: fileNameCharacters) ?? ""
    }
}
