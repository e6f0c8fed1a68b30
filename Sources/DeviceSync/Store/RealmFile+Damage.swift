internal import Foundation
internal import GRDB

extension RealmFile {
    /// Whether the contents of a file are wrong, so that nothing but another file helps. Everything else may pass.
    static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT
        case is DecodingError: true
        default: false
        }
    }

    /// What a closed file knows of its server; nil if the file is damaged or encrypted.
    static func syncIfReadable(at file: URL) throws -> SyncFileState? {
        // Do not open a file that is no SQLite database: SQLite would remove its log.
        guard try RealmFileSet.isPlainDatabase(file) else { return nil }
        do {
            return try storedSync(at: file)
        } catch {
            guard isDamage(error) else { throw error }
            return nil
        }
    }
}
