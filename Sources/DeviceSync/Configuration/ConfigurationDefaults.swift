internal import Foundation
internal import Synchronization

/// The settings that the process has made for all realms.
final class ConfigurationDefaults: Sendable {
    static let shared = ConfigurationDefaults()

    private struct Contents {
        var base: URL?
        var configuration: Realm.Configuration?
    }
    private let contents = Mutex(Contents())

    /// The configuration of the default realm.
    var configuration: Realm.Configuration {
        get { contents.withLock { $0.configuration } ?? Realm.Configuration() }
        set { contents.withLock { $0.configuration = newValue } }
    }

    /// The folder for all files.
    var baseDirectory: URL {
        get { contents.withLock { $0.base } ?? Self.systemBaseDirectory }
        set { contents.withLock { $0.base = newValue } }
    }

    private static var systemBaseDirectory: URL {
        let process = ProcessInfo.processInfo
        if let data = process.environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return URL(fileURLWithPath: data).appendingPathComponent(process.processName)
        }
        return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
            .appendingPathComponent(process.processName)
    }
}
