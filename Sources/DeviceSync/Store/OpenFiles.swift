internal import Foundation
internal import Synchronization

/// Which realm files this process holds open, each until its database is really closed.
///
/// Whoever deletes, replaces or backs up a file must know: SQLite folds the write-ahead log into the file while it
/// closes, and removes the log by its name, whose ever it is by then.
enum OpenFiles {
    private struct Entry {
        var count = 0
        /// Shared by all who have the file open in this process.
        var lock: FileLock?
    }
    private static let entries = Mutex<[String: Entry]>([:])

    static func contains(_ url: URL) -> Bool { entries.withLock { $0[canonical(url).path] != nil } }

    /// Counts a file in for as long as the mark lives.
    final class Mark: Sendable {
        private let path: String

        /// - Parameter exclusion: the code of the error if another process has the file; nil to let others have it too.
        init(_ url: URL, exclusion: Realm.Error.Code? = nil) throws {
            let file = canonical(url)
            let path = file.path
            self.path = path
            try entries.withLock { entries in
                var entry = entries[path] ?? Entry()
                if let exclusion, entry.lock == nil {
                    try FileLayout.makeFolder(file.deletingLastPathComponent())
                    entry.lock = try FileLock(file, code: exclusion)
                }
                entry.count += 1
                entries[path] = entry
            }
        }

        deinit {
            entries.withLock { entries in
                guard let count = entries[path]?.count else { return }
                if count > 1 { entries[path]?.count = count - 1 } else { entries[path] = nil }
            }
        }
    }

    /// One spelling for every path to a file, the same before the file is made and after. Foundation leaves symbolic links
    /// alone in a path whose end does not exist.
    static func canonical(_ url: URL) -> URL {
        var existing = URL(fileURLWithPath: url.path).standardizedFileURL
        var missing: [String] = []
        while existing.path != "/", !FileManager.default.fileExists(atPath: existing.path) {
            missing.append(existing.lastPathComponent)
            existing.deleteLastPathComponent()
        }
        return missing.reversed().reduce(existing.resolvingSymlinksInPath()) { $0.appendingPathComponent($1) }
    }
}
