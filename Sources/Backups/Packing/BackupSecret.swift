import Crypto
import CryptoExtras
import Foundation
import Synchronization

/// The secret that backups are sealed with: 32 bytes or more of a file, or a passphrase.
package enum BackupSecret: Sendable {
    case key([UInt8])
    case passphrase([UInt8])

    /// A key of a file has at least so many bytes, and a passphrase so many characters.
    private static let minKeyBytes = 32
    private static let minPassphraseBytes = 12
    private static let maxBytes = 1 << 16

    /// - Throws: `badInput`, `notAllowed` for a file that others can read.
    package init(keyFile: String) throws(BackupError) {
        let bytes = try Self.read(keyFile)
        guard bytes.count >= Self.minKeyBytes else {
            throw BackupError(
                .badInput,
                "\(keyFile): expected a key of \(Self.minKeyBytes) or more random bytes, found \(bytes.count)")
        }
        self = .key(bytes)
    }

    /// - Throws: as `init(keyFile:)`.
    package init(passphraseFile: String) throws(BackupError) {
        var bytes = try Self.read(passphraseFile)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard bytes.count >= Self.minPassphraseBytes else {
            throw BackupError(
                .badInput,
                "\(passphraseFile): expected a passphrase of \(Self.minPassphraseBytes) or more characters, found \(bytes.count)"
            )
        }
        self = .passphrase(bytes)
    }

    private static func read(_ path: String) throws(BackupError) -> [UInt8] {
        let attributes: [FileAttributeKey: Any]
        let data: Data
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: path)
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? handle.close() }
            data = try handle.read(upToCount: maxBytes + 1) ?? Data()
        } catch {
            throw BackupError(.notFound, "\(path) cannot be read")
        }
        guard (attributes[.posixPermissions] as? Int ?? 0) & 0o007 == 0 else {
            throw BackupError(.notAllowed, "\(path) can be read by everybody: chmod o-rwx it, and see who has read it")
        }
        guard data.count <= maxBytes else { throw BackupError(.badInput, "\(path) is too long for a key") }
        return Array(data)
    }
}

/// How a sealed file's key is made of the secret; stands at the file's beginning.
struct SealHeader: Equatable {
    static let magic = Array("SLUICESEAL".utf8)
    private static let version: UInt8 = 1
    static let bytes = 10 + 1 + 1 + 1 + 16 + 32
    /// The cost of scrypt for a passphrase: 64 MiB. What a file may ask for is bounded, since it may be anybody's.
    static let usualCost: UInt8 = 16
    private static let costs: ClosedRange<UInt8> = 10...18

    /// Whether the secret is a passphrase.
    var isPassphrase: Bool
    /// log2 of scrypt's N; 0 of a key.
    var cost: UInt8
    /// Salts the passphrase: that of all files of a backup.
    var salt: [UInt8]
    /// Makes the file's key its own.
    var file: [UInt8]

    init(of secret: BackupSecret, salt: [UInt8], cost: UInt8 = usualCost) {
        if case .passphrase = secret { isPassphrase = true } else { isPassphrase = false }
        self.cost = isPassphrase ? cost : 0
        self.salt = salt
        file = Self.random(32)
    }

    /// - Throws: `corrupt`.
    init(_ bytes: [UInt8]) throws(BackupError) {
        guard bytes.count == Self.bytes, bytes.starts(with: Self.magic) else {
            throw BackupError(.corrupt, "a sealed file does not begin as one")
        }
        guard bytes[10] == Self.version, bytes[11] < 2 else {
            throw BackupError(
                .corrupt, "a sealed file is of version \(bytes[10]), and this program knows \(Self.version)")
        }
        isPassphrase = bytes[11] == 1
        cost = bytes[12]
        guard isPassphrase ? Self.costs.contains(cost) : cost == 0 else {
            throw BackupError(.corrupt, "a sealed file asks for more than a passphrase's key may cost")
        }
        salt = Array(bytes[13..<29])
        file = Array(bytes[29...])
    }

    var encoded: [UInt8] { Self.magic + [Self.version, isPassphrase ? 1 : 0, cost] + salt + file }

    static func random(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }
        return Array(bytes.prefix(count))
    }
}

/// Makes the keys of files. A passphrase's costs a tenth of a second and 64 MiB, so that of the last salt is kept.
final class SealKeys: Sendable {
    private static let info = Array("sluice backup file".utf8)
    let secret: BackupSecret
    private let last = Mutex<(salt: [UInt8], cost: UInt8, key: SymmetricKey)?>(nil)

    init(_ secret: BackupSecret) { self.secret = secret }

    /// - Throws: `notAllowed` if the file was sealed with the other kind of secret.
    func key(for header: SealHeader) throws -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: try main(for: header), salt: header.file, info: Self.info, outputByteCount: 32)
    }

    private func main(for header: SealHeader) throws -> SymmetricKey {
        switch secret {
        case .key(let bytes):
            guard !header.isPassphrase else {
                throw BackupError(.notAllowed, "the backup was sealed with a passphrase, and not with a key")
            }
            return SymmetricKey(data: bytes)
        case .passphrase(let bytes):
            guard header.isPassphrase else {
                throw BackupError(.notAllowed, "the backup was sealed with a key, and not with a passphrase")
            }
            if let last = last.withLock(\.self), last.salt == header.salt, last.cost == header.cost { return last.key }
            let key = try KDF.Scrypt.deriveKey(
                from: bytes, salt: header.salt, outputByteCount: 32, rounds: 1 << Int(header.cost), blockSize: 8,
                parallelism: 1, maxMemory: (128 * 8 << Int(header.cost)) + (1 << 20))
            last.withLock { $0 = (header.salt, header.cost, key) }
            return key
        }
    }
}
