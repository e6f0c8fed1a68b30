internal import Foundation

/// Keeps other processes away from a realm: what one writes, the other would not see and overwrite. The kernel lets go of
/// it when the process ends, however it ends. Children of this process do not get it when they run another program.
final class FileLock: Sendable {
    private let descriptor: Int32
    private let path: String

    /// - Parameter code: of the error that says that another process has the realm.
    init(_ realm: URL, code: Realm.Error.Code) throws {
        path = realm.path + ".lock"
        while true {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw Self.error(errno, realm, code) }
            guard Self.locked(file) else {
                let reason = errno
                close(file)
                throw Self.error(reason, realm, code)
            }
            // A process that deleted the realm meanwhile deleted this lock file too. A lock on a file that has no name any more
            // keeps no other process away.
            if Self.isAt(path, file) {
                descriptor = file
                return
            }
            close(file)
        }
    }

    /// Deletes the lock file; called after the realm has been deleted.
    func removeFile() { unlink(path) }

    deinit {
        // Closing alone would not do: a child that another thread is just starting has a copy of the descriptor until it runs
        // its program, and every copy holds the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func locked(_ file: Int32) -> Bool {
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            // A file system without locks: a second process is noticed when it has written.
            return errno == ENOTSUP || errno == ENOSYS || errno == EINVAL
        }
        return true
    }

    private static func isAt(_ path: String, _ file: Int32) -> Bool {
        var own = stat()
        var other = stat()
        guard fstat(file, &own) == 0, stat(path, &other) == 0 else { return false }
        return own.st_ino == other.st_ino && own.st_dev == other.st_dev
    }

    private static func error(_ reason: Int32, _ realm: URL, _ code: Realm.Error.Code) -> Realm.Error {
        let (code, message): (Realm.Error.Code, String) =
            switch reason {
            case EWOULDBLOCK: (code, "another process has the realm open; a realm is for one process at a time")
            case EACCES, EPERM, EROFS:
                (.filePermissionDenied, "the file beside the realm that keeps other processes away cannot be made")
            case ENOSPC, EDQUOT: (.outOfDiskSpace, "there is no room for the realm")
            default: (.fileAccess, "the realm cannot be locked against other processes: error \(reason)")
            }
        return Realm.Error(code, message, fileURL: realm)
    }
}
