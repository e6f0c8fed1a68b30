import Foundation
import Storage

/// The files of the embedded store and who may read them: nobody else on the machine. The control store holds password hashes
/// and signing keys, the slices hold what the users have written.
enum SQLiteFiles {
    /// Makes a file and its folder if they are missing, and keeps the file from others. SQLite gives its -wal and -shm files the
    /// same mode.
    static func make(_ path: String, in folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch let error as CocoaError where error.code == .fileWriteNoPermission {
            throw StoreError(.denied, "\(folder) cannot be made: this user may not write there")
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno
            throw StoreError(
                [EACCES, EPERM, EROFS].contains(reason) ? .denied : .unavailable,
                "\(path) cannot be opened: \(String(cString: strerror(reason)))")
        }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw StoreError(.unavailable, "\(path) cannot be kept from others: \(String(cString: strerror(errno)))")
        }
    }
}
