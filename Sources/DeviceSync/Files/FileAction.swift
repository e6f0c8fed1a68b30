internal import Foundation
internal import GRDB
import SyncModel

/// What is to happen to a realm's file once it is closed.
struct FileAction: Sendable, Equatable {
    enum Kind: String, Sendable { case backUpThenDelete, delete }
    var id = UUID().uuidString
    var kind: Kind
    var originalPath: String
    var backupPath: String?
    var userID: String
    /// The client reset that asked for the action, if one did.
    var attempt: String?
    /// The realm that the action is for, by `SyncFileState.identity`: one that has taken its place stays as it is. Nil in
    /// actions of earlier versions.
    var file: ClientFileIdent?
    /// The same of an encrypted realm, by `EncryptedHeader.salt`: what else it has cannot be read without its key.
    var salt: [UInt8]?
}

extension FileAction: FetchableRecord, PersistableRecord {
    static let databaseTableName = "file_actions"

    init(row: Row) {
        id = row["id"]
        kind = Kind(rawValue: row["kind"]) ?? .delete
        originalPath = row["original"]
        backupPath = row["backup"]
        userID = row["user"]
        attempt = row["attempt"]
        salt = (row["encryption_salt"] as Data?).map { [UInt8]($0) }
        if let ident = row["ident"] as Int64?, let salt = row["salt"] as Int64? {
            file = ClientFileIdent(
                ident: FileIdent(UInt64(bitPattern: ident)), salt: FileSalt(UInt64(bitPattern: salt)))
        }
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["kind"] = kind.rawValue
        container["original"] = originalPath
        container["backup"] = backupPath
        container["user"] = userID
        container["attempt"] = attempt
        container["ident"] = file.map { Int64(bitPattern: $0.ident.rawValue) }
        container["salt"] = file.map { Int64(bitPattern: $0.salt.rawValue) }
        container["encryption_salt"] = salt.map { Data($0) }
    }
}
