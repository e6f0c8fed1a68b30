internal import Foundation
internal import Synchronization

/// Which realm files this process holds open, each until its database is really closed.
///
/// Whoever deletes, replaces or backs up a file must know: SQLite folds the write-ahead log into the file while it
/// closes, and removes the log by its name, whose ever it is by then.
enum OpenFiles {
    private static let counts = Mutex<[String: Int]>([:])

    static func contains(_ url: URL) -> Bool { counts.withLock { $0[canonical(url).path] != nil } }

    /// Counts a file in for as long as the mark lives.
    final class Mark: Sendable {
        private let path: String

        init(_ url: URL) {
            let path = canonical(url).path
            self.path = path
            counts.withLock { $0[path, default: 0] += 1 }
        }

        deinit {
            counts.withLock { counts in
                guard let count = counts[path] else { return }
                counts[path] = count > 1 ? count - 1 : nil
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
