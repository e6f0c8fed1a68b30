internal import Foundation
internal import Logging

extension AppCore {
    /// Deletes the files of removed users, and then the users. What cannot be deleted now is for the next launch.
    func forgetRemovedUsers() {
        let removed = Set(((try? store.users()) ?? []).filter { $0.state == .removed }.map(\.id))
        guard !removed.isEmpty, let listed = try? store.files() else { return }
        let files = RemovedUsersFiles(users: removed, listed: listed)
        for user in removed.sorted() {
            do {
                if try files.delete(of: user, in: layout.userFolder(user)) {
                    try store.removeUser(user)
                } else {
                    logger.info("a removed user's realm is open and stays until the next launch")
                }
            } catch {
                logger.error("a removed user's files stay until the next launch", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// The files of removed users among those of others.
///
/// A realm goes if the user who opened it last is removed. The realm itself says who that is; the metadata file only says
/// where to look, besides the user's folder: a realm may be there that was never listed, such as a copy that was never
/// opened.
struct RemovedUsersFiles {
    let users: Set<String>
    private let listed: [(user: String, path: String)]
    /// The paths of realms that a user who is still there has opened: never touched.
    private let others: Set<String>

    /// - Parameter listed: what is known of who opened what.
    init(users: Set<String>, listed: [(user: String, path: String)]) {
        self.users = users
        self.listed = listed
        others = Set(listed.filter { !users.contains($0.user) }.map { Self.canonical($0.path) })
    }

    /// Deletes one user's realms, and its folder unless a realm is left there.
    /// - Returns: false if something is open in this process and therefore left.
    /// - Throws: the first error; one file that cannot be read or deleted does not keep the others.
    func delete(of user: String, in folder: URL) throws -> Bool {
        var failures: [any Error] = []
        let own = listed.filter { $0.user == user }.map { Self.canonical($0.path) }
        var isComplete = true
        for path in Set(own + databases(in: folder, &failures)).subtracting(others).sorted() {
            let files = RealmFileSet(main: URL(fileURLWithPath: path))
            do {
                let wasClosed: Void? = try RealmRegistry.whileClosed(files) {
                    guard files.exists, try belongs(files.main) else { return }
                    try files.delete()
                }
                if wasClosed == nil { isComplete = false }
            } catch {
                failures.append(error)
            }
        }
        if let failure = failures.first { throw failure }
        guard isComplete else { return false }
        if try !leavesRealms(in: folder) { try? FileManager.default.removeItem(at: folder) }
        return true
    }

    /// Whether a removed user opened the realm last. A damaged realm counts as theirs, and an encrypted one, since they cannot say.
    private func belongs(_ file: URL) throws -> Bool {
        guard let sync = try SyncFileState.readable(at: file) else { return true }
        return sync.userID.map(users.contains) ?? false
    }

    /// Whether somebody's realm is still there: also a damaged one, which is no database any more and which the app may yet
    /// want to save.
    private func leavesRealms(in folder: URL) throws -> Bool {
        var failures: [any Error] = []
        let files = Self.files(in: folder, &failures)
        if let failure = failures.first { throw failure }
        return try files.contains { file in
            try file.pathExtension == "realm" || others.contains(Self.canonical(file.path))
                || RealmFileSet.isDatabase(file)
        }
    }

    /// The databases anywhere in a folder, whatever their names, but for those that are known to be others'; a fresh copy
    /// counts as its realm's if that is there.
    private func databases(in folder: URL, _ failures: inout [any Error]) -> [String] {
        var databases: [String] = []
        for file in Self.files(in: folder, &failures) {
            let path = Self.canonical(file.path)
            let isFreshCopy =
                file.pathExtension == "fresh"
                && FileManager.default.fileExists(atPath: file.deletingPathExtension().path)
            guard !isFreshCopy, !others.contains(path) else { continue }
            do {
                if try RealmFileSet.isDatabase(file) { databases.append(path) }
            } catch {
                failures.append(error)
            }
        }
        return databases
    }

    private static func files(in folder: URL, _ failures: inout [any Error]) -> [URL] {
        var unread: [any Error] = []
        let found = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: [.isRegularFileKey],
            errorHandler: { url, error in
                if FileManager.default.fileExists(atPath: url.path) { unread.append(error) }
                return true
            })
        var files: [URL] = []
        while let file = found?.nextObject() as? URL {
            do {
                if try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true { files.append(file) }
            } catch {
                unread.append(error)
            }
        }
        failures += unread
        return files
    }

    private static func canonical(_ path: String) -> String { OpenFiles.canonical(URL(fileURLWithPath: path)).path }
}
