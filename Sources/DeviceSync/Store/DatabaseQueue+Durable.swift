internal import Foundation
internal import GRDB

extension DatabaseQueue {
    /// Opens a file whose commits survive a power failure (WAL with synchronous=FULL) and that nobody but its owner may read.
    /// - Parameter readOnly: takes the file as it is, which must exist.
    static func durable(
        _ file: URL, readOnly: Bool = false, encryption: FileEncryption? = nil
    ) throws -> DatabaseQueue {
        var configuration = Configuration.waiting(60).with(encryption)
        configuration.readonly = readOnly
        if !readOnly {
            try FileLayout.makeFolder(file.deletingLastPathComponent())
            if !FileManager.default.fileExists(atPath: file.path) {
                // SQLite gives its companions the mode of the main file, so it must be right from the start.
                _ = FileManager.default.createFile(
                    atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode=WAL")
                try database.execute(sql: "PRAGMA synchronous=FULL")
                // A commit may be large. What the log has taken for it is given back when it begins anew.
                try database.execute(sql: "PRAGMA journal_size_limit=\(16 << 20)")
            }
        }
        return try DatabaseQueue(path: encryption?.name(of: file) ?? file.path, configuration: configuration)
    }

    /// A connection to a file that `durable` has opened, which reads in transactions of any length.
    static func reader(_ file: URL, _ encryption: FileEncryption?) throws -> DatabaseQueue {
        var configuration = Configuration.waiting(60).with(encryption)
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: encryption?.name(of: file) ?? file.path, configuration: configuration)
    }
}

extension Configuration {
    /// Waits so many seconds for a lock that another connection has.
    static func waiting(_ seconds: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(seconds)
        return configuration
    }
}
