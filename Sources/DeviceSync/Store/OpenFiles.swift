internal import Foundation
internal import Synchronization

/// The realm files that this process holds open, each until its database is really closed.
///
/// Deleting, replacing and backing up a file have to wait until then: SQLite folds the write-ahead log into the file while
/// it closes, and removes the log by its name, even if another file has that name by then.
enum OpenFiles {
    private struct Entry {
        var count = 0
        /// Shared by all who have the file open in this process.
        var lock: FileLock?
    }
    /// Something to do once none of some files is open.
    private struct Watch: Sendable {
        var paths: [String]
        var closed: @Sendable () -> Void
    }
    private struct Contents {
        var entries: [String: Entry] = [:]
        var watches: [UInt64: Watch] = [:]
        var lastWatch: UInt64 = 0

        func isOpen(_ paths: [String]) -> Bool { paths.contains { entries[$0] != nil } }

        /// Removes and returns the watches whose files are closed now that this one is.
        mutating func takeWatches(endedBy path: String) -> [Watch] {
            guard !watches.isEmpty else { return [] }
            let ended = watches.filter { $0.value.paths.contains(path) && !isOpen($0.value.paths) }
            for number in ended.keys { watches[number] = nil }
            return Array(ended.values)
        }
    }
    private static let contents = Mutex(Contents())

    static func contains(_ url: URL) -> Bool {
        let path = canonical(url).path
        return contents.withLock { $0.isOpen([path]) }
    }

    /// Calls `closed` once this process has none of the files open: at once, or on the thread that closes the last one.
    /// - Returns: the number to cancel the watch by.
    static func watch(_ urls: [URL], closed: @escaping @Sendable () -> Void) -> UInt64 {
        let paths = urls.map { canonical($0).path }
        let (number, isOpen) = contents.withLock { contents in
            contents.lastWatch += 1
            let isOpen = contents.isOpen(paths)
            if isOpen { contents.watches[contents.lastWatch] = Watch(paths: paths, closed: closed) }
            return (contents.lastWatch, isOpen)
        }
        if !isOpen { closed() }
        return number
    }

    static func cancelWatch(_ number: UInt64) { contents.withLock { $0.watches[number] = nil } }

    /// Whether something waits for the file to be closed; for tests.
    static func isWatched(_ url: URL) -> Bool {
        let path = canonical(url).path
        return contents.withLock { $0.watches.values.contains { $0.paths.contains(path) } }
    }

    /// Counts a file in for as long as the mark lives.
    final class Mark: Sendable {
        private let path: String

        /// - Parameter exclusion: the code of the error if another process has the file; nil to let others have it too.
        init(_ url: URL, exclusion: Realm.Error.Code? = nil) throws {
            let file = canonical(url)
            let path = file.path
            self.path = path
            try contents.withLock { contents in
                var entry = contents.entries[path] ?? Entry()
                if let exclusion, entry.lock == nil {
                    try FileLayout.makeFolder(file.deletingLastPathComponent())
                    entry.lock = try FileLock(file, code: exclusion)
                }
                entry.count += 1
                contents.entries[path] = entry
            }
        }

        deinit {
            let ended = contents.withLock { contents -> [Watch] in
                guard let count = contents.entries[path]?.count else { return [] }
                guard count == 1 else {
                    contents.entries[path]?.count = count - 1
                    return []
                }
                contents.entries[path] = nil
                return contents.takeWatches(endedBy: path)
            }
            for watch in ended { watch.closed() }
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
