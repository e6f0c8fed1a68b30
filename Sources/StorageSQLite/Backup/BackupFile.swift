import Crypto
import Foundation
import GRDB
import Storage
import SyncModel

/// One SQLite file of a backup. Everything here blocks.
struct BackupFile {
    /// The control store's.
    static let control = "control.sqlite"
    var folder: String
    var name: String
    var path: String { "\(folder)/\(name)" }

    /// Copies a store's file as it is at one moment. Its owner goes on committing; only its log cannot be emptied meanwhile.
    func copy(of source: String) throws {
        guard FileManager.default.fileExists(atPath: source) else {
            throw StoreError(.notFound, "\(source) is missing: sluice store show says what else is")
        }
        try SQLiteFiles.make(path, in: folder)
        let database = try DatabaseQueue(path: source, configuration: Configuration(label: "sluice.backup"))
        try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        try database.close()
        try Self.sync(path)
    }

    /// - Throws: `corrupt` if SQLite finds anything wrong.
    func checkIntegrity() throws {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        let found = try database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check(3)") }
        guard found == ["ok"] else {
            throw StoreError(.corrupt, "\(path) is damaged: \(found.joined(separator: "; ").prefix(500))")
        }
    }

    /// Opens the file for reading. A backup may be anybody's: no link is followed, and nothing waits for a pipe's other end.
    /// - Throws: `notFound`, `corrupt` if it is no file.
    func opened() throws(StoreError) -> FileHandle {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            let failure = errno
            if failure == ENOENT { throw StoreError(.notFound, "\(path) is missing") }
            if failure == ELOOP { throw StoreError(.corrupt, "\(path) is a link: a backup consists of files") }
            throw StoreError(.unavailable, "\(path) cannot be read: \(String(cString: strerror(failure)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.corrupt, "\(path) is no file: a backup consists of files")
        }
        return handle
    }

    /// SQLite would take what stands beside its file, and is so called, for a part of it.
    /// - Throws: `corrupt` if there is such a thing.
    func requireAlone() throws(StoreError) {
        for name in ["-journal", "-wal", "-shm"].map({ path + $0 }) {
            var status = stat()
            guard lstat(name, &status) != 0, errno == ENOENT else {
                throw StoreError(.corrupt, "\(name) is no part of a backup: take it away")
            }
        }
    }

    /// Copies the file into another folder.
    func put(into folder: String, as name: String) throws {
        let source = try opened()
        defer { try? source.close() }
        let path = "\(folder)/\(name)"
        try SQLiteFiles.make(path, in: folder)
        let target = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? target.close() }
        while let part = try source.read(upToCount: 1 << 20), !part.isEmpty { try target.write(contentsOf: part) }
    }

    func described() throws -> BackupManifest.File {
        let handle = try opened()
        defer { try? handle.close() }
        var hash = SHA256()
        var bytes = 0
        while let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
            hash.update(data: part)
            bytes += part.count
        }
        return BackupManifest.File(name: name, bytes: bytes, sha256: HexBytes(Array(hash.finalize())).hex)
    }

    /// Has a file, or a folder's names, written to the disk.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreError(.unavailable, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw StoreError(.unavailable, "\(path) cannot be written to the disk: \(String(cString: strerror(errno)))")
        }
    }

    /// Makes a folder for a whole store or backup.
    /// - Throws: `alreadyExists` if there is something in it.
    static func makeFolder(_ folder: String, for what: String) throws {
        let there = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard there.isEmpty else {
            throw StoreError(.alreadyExists, "\(folder) is not empty: \(what) needs a folder of its own")
        }
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}
