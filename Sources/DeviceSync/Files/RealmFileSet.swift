internal import Foundation

/// A realm's file and what stands beside it.
struct RealmFileSet: Sendable {
    let main: URL

    var fresh: URL { URL(fileURLWithPath: main.path + ".fresh") }

    /// Whether this process has the realm or its fresh copy open, or is still closing one of them.
    var isOpen: Bool { databases.contains { OpenFiles.contains($0) } }

    /// The realm and the fresh copy of a client reset.
    var databases: [URL] { [main, fresh] }

    var exists: Bool { FileManager.default.fileExists(atPath: main.path) }

    /// Deletes everything; the main file last, so that a crash in between leaves something to delete again.
    /// - Returns: whether the main file was there.
    @discardableResult
    func delete() throws -> Bool {
        for file in Self.files(of: fresh) + Self.files(of: main).dropLast() { try Self.remove(file) }
        return try Self.remove(main)
    }

    /// Whether the file is a database, encrypted or not.
    static func isDatabase(_ file: URL) throws -> Bool {
        try isPlainDatabase(file) || EncryptedHeader.ofClosed(file) != nil
    }

    /// Whether SQLite can read the file as it is. SQLite removes the log beside any other file that it opens.
    static func isPlainDatabase(_ file: URL) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        return try handle.read(upToCount: 16) == Data("SQLite format 3\0".utf8)
    }

    /// A database after its companions.
    static func files(of database: URL) -> [URL] {
        ["-wal", "-shm", "-journal", ""].map { URL(fileURLWithPath: database.path + $0) }
    }

    /// Deletes one database with its companions, best effort.
    static func deleteDatabase(_ url: URL) { for file in files(of: url) { _ = try? remove(file) } }

    @discardableResult
    static func remove(_ url: URL) throws -> Bool {
        do {
            try FileManager.default.removeItem(at: url)
            return true
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            return false
        }
    }
}
