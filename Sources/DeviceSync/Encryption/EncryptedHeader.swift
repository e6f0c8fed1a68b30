internal import Crypto
internal import Foundation

/// What an encrypted file begins with, in plain: that it is one, the salt of its keys, and by what a wrong key is told from damage.
/// It never changes while the file lives.
struct EncryptedHeader: Sendable, Equatable {
    static let length = 32
    private static let magic = Array("SluiceE1".utf8)
    private static let saltLength = 16
    private static let checkLength = length - magic.count - saltLength

    let salt: [UInt8]
    private let check: [UInt8]

    /// Makes the header of a new file.
    init(for key: EncryptionKey) {
        var random = SystemRandomNumberGenerator()
        salt = (0..<Self.saltLength).map { _ in random.next() }
        check = Self.check(key, salt)
    }

    /// - Returns: nil unless they are the first bytes of an encrypted file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes.starts(with: Self.magic) else { return nil }
        check = Array(bytes[Self.magic.count..<Self.length - Self.saltLength])
        salt = Array(bytes[(Self.length - Self.saltLength)...])
    }

    var bytes: [UInt8] { Self.magic + check + salt }

    func isOf(_ key: EncryptionKey) -> Bool { Self.check(key, salt) == check }

    private static func check(_ key: EncryptionKey, _ salt: [UInt8]) -> [UInt8] {
        key.derived("check", salt: salt, bytes: checkLength).withUnsafeBytes { Array($0) }
    }

    /// The header of a file that this process does not have open; nil unless the file is encrypted.
    static func ofClosed(_ file: URL) throws -> EncryptedHeader? {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        return try EncryptedHeader([UInt8](handle.read(upToCount: length) ?? Data()))
    }
}
