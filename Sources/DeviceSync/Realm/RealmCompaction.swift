internal import Foundation
internal import GRDB

/// Makes a realm's file as small as its contents, if the app wants that at the first opening.
enum RealmCompaction {
    /// Asks the app, and compacts the file if it says so. For the owner of a claim to the realm, while it is closed.
    /// - Throws: `Realm.Error`.
    static func run(
        _ url: URL, _ key: EncryptionKey?, ifWanted isWanted: (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        try RealmRegistry.withoutOtherProcesses(RealmFileSet(main: url)) {
            do {
                let database = try DatabaseQueue.durable(url, encryption: FileEncryption.of(url, key))
                defer { try? database.close() }
                // The file is as large as SQLite says only once the log is in it.
                try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                let (size, pages, free) = try database.read { database in
                    (
                        try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0,
                        try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0,
                        try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
                    )
                }
                guard isWanted(size * pages, size * (pages - free)) else { return }
                try database.vacuum()
                try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            } catch let error as DatabaseError {
                throw Realm.Error(.fileAccess, "the file could not be compacted: \(error)", fileURL: url)
            }
        }
    }
}
