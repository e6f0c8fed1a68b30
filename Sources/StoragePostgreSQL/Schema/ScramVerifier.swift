import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The form in which PostgreSQL keeps a password (SCRAM-SHA-256, RFC 7677): a server that is given this never sees the password, nor do its
/// logs.
package struct ScramVerifier: Sendable {
    private static let iterations = 4096

    /// The verifier as `CREATE ROLE ... PASSWORD` takes it.
    package let text: String

    /// - Parameter password: printable ASCII, which needs no normalization; nil for any other.
    package init?(password: String, salt: [UInt8] = (0..<16).map { _ in UInt8.random(in: .min ... .max) }) {
        guard !password.isEmpty, password.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        let key = SymmetricKey(data: Array(password.utf8))
        // PBKDF2 of one block.
        var block = Array(HMAC<SHA256>.authenticationCode(for: salt + [0, 0, 0, 1], using: key))
        var salted = block
        for _ in 1..<Self.iterations {
            block = Array(HMAC<SHA256>.authenticationCode(for: block, using: key))
            for index in salted.indices { salted[index] ^= block[index] }
        }
        let saltedKey = SymmetricKey(data: salted)
        let clientKey = Array(HMAC<SHA256>.authenticationCode(for: Array("Client Key".utf8), using: saltedKey))
        let storedKey = Array(SHA256.hash(data: clientKey))
        let serverKey = Array(HMAC<SHA256>.authenticationCode(for: Array("Server Key".utf8), using: saltedKey))
        func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
        text = "SCRAM-SHA-256$\(Self.iterations):\(encoded(salt))$\(encoded(storedKey)):\(encoded(serverKey))"
    }
}
