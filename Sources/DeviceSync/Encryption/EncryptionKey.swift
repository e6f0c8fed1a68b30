internal import Crypto
internal import Foundation

/// The key that an app gives a realm. The keys that encrypt its files are derived from it.
struct EncryptionKey: Sendable, Equatable {
    static let length = 64

    private let secret: SymmetricKey

    /// - Throws: `Realm.Error` with code `invalidInput` unless the key has 64 bytes.
    init(_ bytes: Data) throws {
        guard bytes.count == Self.length else {
            throw Realm.Error(
                .invalidInput,
                "an encryptionKey has \(Self.length) bytes, and this one has \(bytes.count); make one of random bytes and keep it"
            )
        }
        secret = SymmetricKey(data: bytes)
    }

    func derived(_ purpose: String, salt: [UInt8], bytes: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: Data("sluice realm \(purpose)".utf8), outputByteCount: bytes)
    }
}
