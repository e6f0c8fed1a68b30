import Foundation

/// Where backups are kept, each under a name of its own.
package protocol BackupPlace: Sendable {
    /// The place in words, without secrets.
    var words: String { get }
    /// The names of the backups there, whole or not, in their order.
    func names() async throws -> [String]
    /// The names of a backup's files.
    func files(of backup: String) async throws -> [String]
    /// Makes room for a backup.
    /// - Throws: `alreadyExists` if there is one of this name.
    func begin(_ backup: String) async throws
    /// Brings a local file there. The file is there as a whole or not at all.
    func put(_ source: String, as file: String, of backup: String) async throws
    /// Fetches a file.
    /// - Throws: `notFound`; `corrupt` if it is longer than `maxBytes`.
    func fetch(_ file: String, of backup: String, to target: String, maxBytes: Int) async throws
    func remove(_ file: String, of backup: String) async throws
    /// Ends what `begin` has begun, once all files are gone.
    func removeFolder(of backup: String) async throws
}

/// The name of a backup: the second in which it began, so that names sort as backups do.
package enum BackupName {
    /// - Parameter moment: milliseconds of Unix time.
    package static func of(_ moment: UInt64) -> String {
        let date = Date(timeIntervalSince1970: Double(moment / 1000))
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        return date.formatted(style)
    }

    package static func isOne(_ text: String) -> Bool { text.wholeMatch(of: /[0-9]{8}T[0-9]{6}Z/) != nil }
}
