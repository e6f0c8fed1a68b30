internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// How one file is encrypted, and how SQLite gets to know of it.
///
/// A connection is opened by a name that says which VFS to use, and a number that stands for the cipher as long as this object lives: a
/// name ends up in messages, where no key may be.
final class FileEncryption: Sendable {
    let key: EncryptionKey
    let cipher: PageCipher
    private let number: Int64

    private struct Ciphers {
        var last: Int64 = 0
        var all: [Int64: PageCipher] = [:]
    }
    private static let ciphers = Mutex(Ciphers())

    private init(_ key: EncryptionKey, _ header: EncryptedHeader) {
        self.key = key
        let cipher = PageCipher(header, key)
        self.cipher = cipher
        number = Self.ciphers.withLock { ciphers in
            ciphers.last += 1
            ciphers.all[ciphers.last] = cipher
            return ciphers.last
        }
    }

    deinit { Self.ciphers.withLock { $0.all[number] = nil } }

    static func cipher(_ number: Int64) -> PageCipher? { ciphers.withLock { $0.all[number] } }

    /// The first bytes of files that are not encrypted.
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Whether a file has a single byte, for which SQLite says that it has none.
    private static func isOneByte(_ file: URL) -> Bool {
        let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size]
        return (size as? NSNumber)?.intValue == 1
    }

    /// The encryption of a file as it is, or of a file that is to be made.
    /// - Returns: nil without a key.
    /// - Throws: `Realm.Error` with code `invalidDatabase` if the file and the key do not go together. SQLite has not touched it then.
    static func of(_ file: URL, _ key: EncryptionKey?) throws -> FileEncryption? {
        let start = CipherVFS.shared.start(of: file)
        let header = EncryptedHeader(start)
        guard let key else {
            guard header == nil else {
                throw unusable("is encrypted: open it with the encryptionKey that it was made with", file)
            }
            // SQLite takes a file of a few bytes for an empty one, and writes over it.
            let isBlank = start.allSatisfy { $0 == 0 } && !(start.isEmpty && isOneByte(file))
            guard isBlank || (!start.isEmpty && magic.starts(with: start.prefix(magic.count))) else {
                throw unusable("is no realm, or its first bytes are damaged", file)
            }
            return nil
        }
        // SQLite would take the name that says how to encrypt for that of an ordinary file.
        guard CipherVFS.shared.isUsable else {
            throw Realm.Error(
                .fail,
                "encrypted realms need a SQLite that was built with SQLITE_USE_URI, as that of Debian and Ubuntu is",
                fileURL: file)
        }
        // A file that was about to be made when the power failed may be one of zeros.
        guard start.contains(where: { $0 != 0 }) else { return FileEncryption(key, EncryptedHeader(for: key)) }
        guard let header else {
            guard start.starts(with: magic) else {
                throw unusable("is no realm, or its first bytes are damaged", file)
            }
            throw unusable(
                "is not encrypted: open it without an encryptionKey, and copy it with writeCopy(toFile:encryptionKey:)",
                file)
        }
        guard header.isOf(key) else {
            throw unusable(
                "is encrypted with another key: open it with the encryptionKey that it was made with. If this is that one, the file's "
                    + "first bytes are damaged", file)
        }
        return FileEncryption(key, header)
    }

    /// The encryption of a file that is to be made.
    static func new(_ key: EncryptionKey) -> FileEncryption { FileEncryption(key, EncryptedHeader(for: key)) }

    private static func unusable(_ reason: String, _ file: URL) -> Realm.Error {
        Realm.Error(.invalidDatabase, "the realm's file \(file.path) \(reason)", fileURL: file)
    }

    /// What SQLite is to open.
    /// - Parameter isImmutable: whether nobody writes the file, or could: no log is looked for then, and nothing is put beside the file.
    func name(of file: URL, isImmutable: Bool = false) -> String {
        let path = file.path.addingPercentEncoding(withAllowedCharacters: Self.plainInNames) ?? file.path
        return "file:\(path)?vfs=\(CipherVFS.shared.name)&\(CipherVFS.parameter)=\(number)"
            + (isImmutable ? "&immutable=1" : "")
    }

    private static let plainInNames = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")

    /// Prepares a new connection: leaves room in the pages of a new file, and keeps whatever SQLite would put into temporary files in memory.
    func prepare(_ database: Database) throws {
        try database.execute(
            sql: "PRAGMA page_size=\(PageCipher.pageSize); PRAGMA auto_vacuum=NONE; PRAGMA temp_store=MEMORY")
        var reserved = Int32(PageCipher.reserved)
        let result = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        guard result == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
    }
}

extension Configuration {
    /// The same for a file that may be encrypted.
    func with(_ encryption: FileEncryption?) -> Configuration {
        guard let encryption else { return self }
        var configuration = self
        configuration.prepareDatabase { try encryption.prepare($0) }
        return configuration
    }
}
