import Foundation

/// A folder of this machine, with a folder in it for each backup.
package struct FolderPlace: BackupPlace {
    private let folder: String

    package init(_ folder: String) { self.folder = folder }

    package var words: String { folder }

    package func names() async throws -> [String] {
        try await list(folder).filter(BackupName.isOne).sorted()
    }

    package func files(of backup: String) async throws -> [String] { try await list("\(folder)/\(backup)") }

    private func list(_ path: String) async throws -> [String] {
        try await onFileThread {
            do {
                return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            } catch {
                throw BackupError(.notFound, "\(path) cannot be read: \(Self.reason(error))")
            }
        }
    }

    package func begin(_ backup: String) async throws {
        let path = "\(folder)/\(backup)"
        try await onFileThread {
            guard !FileManager.default.fileExists(atPath: path) else {
                throw BackupError(.alreadyExists, "there is a backup \(path) already")
            }
            do {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw BackupError(.unavailable, "\(path) cannot be made: \(Self.reason(error))")
            }
        }
    }

    package func put(_ source: String, as file: String, of backup: String) async throws {
        let path = "\(folder)/\(backup)/\(file)"
        try await onFileThread {
            let partial = "\(path).partial"
            try? FileManager.default.removeItem(atPath: partial)
            try Self.copy(source, to: partial, maxBytes: .max)
            try FileManager.default.moveItem(atPath: partial, toPath: path)
            try Self.sync((path as NSString).deletingLastPathComponent)
        }
    }

    package func fetch(_ file: String, of backup: String, to target: String, maxBytes: Int) async throws {
        let path = "\(folder)/\(backup)/\(file)"
        try await onFileThread { try Self.copy(path, to: target, maxBytes: maxBytes) }
    }

    package func remove(_ file: String, of backup: String) async throws {
        let path = "\(folder)/\(backup)/\(file)"
        try await onFileThread { try FileManager.default.removeItem(atPath: path) }
    }

    package func removeFolder(of backup: String) async throws {
        let path = "\(folder)/\(backup)"
        try await onFileThread {
            guard rmdir(path) == 0 || errno == ENOENT else {
                throw BackupError(.unavailable, "\(path) cannot be removed: \(String(cString: strerror(errno)))")
            }
        }
    }

    private static func copy(_ source: String, to target: String, maxBytes: Int) throws {
        // A backup may be anybody's: no link is followed, and nothing waits for a pipe's other end.
        let descriptor = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            let failure = errno
            throw BackupError(
                failure == ENOENT ? .notFound : .unavailable,
                "\(source) cannot be read: \(String(cString: strerror(failure)))")
        }
        let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        defer { try? input.close() }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BackupError(.corrupt, "\(source) is no file: a backup consists of files")
        }
        let output = try Packing.make(target)
        defer { try? output.close() }
        var bytes = 0
        while let part = try input.read(upToCount: 1 << 20), !part.isEmpty {
            bytes += part.count
            guard bytes <= maxBytes else { throw BackupError(.corrupt, "\(source) is longer than it may be") }
            try output.write(contentsOf: part)
        }
        try output.synchronize()
    }

    private static func sync(_ folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw BackupError(.unavailable, "\(folder) cannot be written to the disk")
        }
    }

    private static func reason(_ error: any Error) -> String { (error as NSError).localizedDescription }
}
