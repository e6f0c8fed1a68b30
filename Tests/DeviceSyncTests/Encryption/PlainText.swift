import Foundation
import Testing

@testable import DeviceSync

/// What tests of encrypted files write and look for.
enum PlainText {
    static let marker = "Rosebud-was-the-sledge"
    static let key = Data((0..<64).map { UInt8($0 * 3 + 1) })
    static let otherKey = Data((0..<64).map { UInt8($0 * 2 + 7) })

    /// What stands in a plain realm with such contents: the contents, the class, the tables.
    static let patterns = [marker, "Task", "CREATE TABLE", "SQLite format 3"].map { Data($0.utf8) }

    /// What was found in which files of a folder.
    static func found(in folder: URL, _ patterns: [Data] = patterns) -> [String] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var found: [String] = []
        while let file = files?.nextObject() as? URL {
            // What an app knows of its users and their realms is no part of a realm.
            guard !file.path.contains("/server-utility/"), let data = try? Data(contentsOf: file) else { continue }
            for pattern in patterns where data.range(of: pattern) != nil {
                found.append("\(file.lastPathComponent): \(String(decoding: pattern, as: UTF8.self))")
            }
        }
        return found.sorted()
    }
}

extension Folder {
    var encrypted: Realm.Configuration {
        var configuration = configuration
        configuration.encryptionKey = PlainText.key
        return configuration
    }

    /// A folder as it is now, as it would be after a crash.
    func copied() throws -> Folder {
        let copy = Folder()
        try FileManager.default.copyItem(at: url, to: copy.url)
        return copy
    }

    var bytes: [String: Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: url.path + "/" + $1) }
    }
}

extension Realm {
    /// Small and large objects, so that there are all kinds of pages.
    func writeMarkedObjects() throws {
        try write {
            for number in 0..<100 {
                dynamicCreate(
                    "Task",
                    value: [
                        "_id": "\(number)", "title": "\(PlainText.marker) \(number)",
                        "any": Data(PlainText.marker.utf8),
                        "names": ["a": number % 10 == 0 ? String(repeating: PlainText.marker, count: 1000) : ""],
                    ])
            }
        }
    }
}
