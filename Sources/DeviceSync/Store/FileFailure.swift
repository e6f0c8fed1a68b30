internal import Foundation
internal import GRDB

/// Errors of SQLite at a realm's file: as the app hears of them, and whether they may pass.
enum FileFailure {
    /// Whether the contents of a file are wrong, so that nothing but another file helps. Everything else may pass.
    static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT
        case is DecodingError: true
        default: false
        }
    }

    /// Why something could not be read or written, as the app hears of it.
    /// - Parameter url: nil for a realm in memory.
    static func named(_ error: any Error, _ url: URL?) -> Realm.Error {
        if let error = error as? Realm.Error { return error }
        guard let error = error as? DatabaseError else {
            return Realm.Error(.invalidDatabase, "the realm's file cannot be read: \(error)", fileURL: url)
        }
        let code: Realm.Error.Code
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return Realm.Error(
                .invalidDatabase,
                "the realm's file \(url?.path ?? "in memory") is damaged, or is no realm: \(error.message ?? "it cannot be read"). Put a "
                    + "copy of it in its place, or delete it with Realm.deleteFiles(for:)", fileURL: url)
        case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: code = .filePermissionDenied
        case .SQLITE_FULL: code = .outOfDiskSpace
        default: code = .fileAccess
        }
        let message = "the realm's file cannot be used: \(error.message ?? "SQLite \(error.resultCode)")"
        return UnwritableFolder.named(Realm.Error(code, message, fileURL: url))
    }
}
