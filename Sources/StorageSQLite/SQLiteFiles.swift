import Foundation
import GRDB
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

    /// Opens a file that must be there, and closes it afterwards.
    ///
    /// - Parameter failure: what cannot be done then.
    static func use<Value: Sendable>(
        _ file: String, as label: String, readsOnly: Bool = false, orSay failure: String,
        _ body: @escaping @Sendable (DatabaseQueue) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await onOwnThread {
                guard FileManager.default.fileExists(atPath: file) else {
                    throw StoreError(.notFound, "\(file) is missing")
                }
                let configuration = Configuration(label: label, readsOnly: readsOnly)
                let database = try DatabaseQueue(path: file, configuration: configuration)
                defer { try? database.close() }
                return try body(database)
            }
        } catch {
            throw SQLiteFailure.storeError(error, failure)
        }
    }
}

extension Configuration {
    /// Makes the configuration of a connection to a file that others may have open, too.
    init(label: String, readsOnly: Bool = false) {
        self.init()
        self.label = label
        readonly = readsOnly
        busyMode = .timeout(10)
    }
}
