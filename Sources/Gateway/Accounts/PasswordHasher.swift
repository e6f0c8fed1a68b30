import Crypto
import CryptoExtras
import Foundation
import NIOPosix
import Synchronization

/// The cost of scrypt; stored with every hash, so that it can be raised later.
package struct PasswordParameters: Sendable, Hashable {
    /// log2 of N. With 15 and r = 8 a hash takes 32 MiB and about 0.1 s.
    package var logN = 15
    package var r = 8
    package var p = 1

    package init() {}
}

/// Hashes and checks passwords with scrypt, on threads of its own: neither an event loop nor a cooperative thread waits.
///
/// A hash is `$scrypt$ln=15,r=8,p=1$<salt>$<key>`, both in base64.
final class PasswordHasher: Sendable {
    struct Verification: Sendable {
        var matches: Bool
        /// The hash was made with other parameters than today's.
        var needsRehash: Bool
    }

    private let parameters: PasswordParameters
    private let pool: NIOThreadPool
    private let queue: Int
    private let waiting = Mutex(0)
    /// What an unknown account's password is checked against, so that it costs the same time.
    private let decoy: String

    init(parameters: PasswordParameters, threads: Int, queue: Int) {
        self.parameters = parameters
        self.queue = queue
        pool = NIOThreadPool(numberOfThreads: max(1, threads))
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        decoy = Self.text(parameters, salt: Self.salt(), key: key)
        pool.start()
    }

    func shutdown() async { try? await pool.shutdownGracefully() }

    func hash(_ password: String) async throws(GatewayError) -> String {
        let parameters = self.parameters
        return try await run {
            let salt = Self.salt()
            return Self.text(parameters, salt: salt, key: try Self.derive(password, salt: salt, parameters))
        }
    }

    /// - Parameter hash: nil for an unknown account; the answer is then no, after the same work.
    func verify(_ password: String, against hash: String?) async throws(GatewayError) -> Verification {
        let (parameters, decoy) = (self.parameters, self.decoy)
        return try await run {
            guard let stored = Self.parse(hash ?? decoy) else {
                throw GatewayError(.passwordHash, "a stored password hash has an unknown form")
            }
            let key = try Self.derive(password, salt: stored.salt, stored.parameters)
            // SymmetricKey compares in constant time.
            let matches = SymmetricKey(data: key) == SymmetricKey(data: stored.key) && hash != nil
            return Verification(matches: matches, needsRehash: stored.parameters != parameters)
        }
    }

    private func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws(GatewayError) -> T {
        let isAdmitted = waiting.withLock { count in
            guard count < queue else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw GatewayError(.overloaded, "too many logins at once") }
        defer { waiting.withLock { $0 -= 1 } }
        do {
            return try await pool.runIfActive(work)
        } catch let error as GatewayError {
            throw error
        } catch {
            throw GatewayError(.passwordHash, "the password could not be hashed", underlying: error)
        }
    }

    private static func salt() -> Data { Data((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    private static func derive(_ password: String, salt: Data, _ parameters: PasswordParameters) throws -> Data {
        let key = try KDF.Scrypt.deriveKey(
            from: Data(password.utf8), salt: salt, outputByteCount: 32, rounds: 1 << parameters.logN,
            blockSize: parameters.r, parallelism: parameters.p)
        return key.withUnsafeBytes { Data($0) }
    }

    private static func text(_ parameters: PasswordParameters, salt: Data, key: Data) -> String {
        "$scrypt$ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)$\(salt.base64EncodedString())$"
            + key.base64EncodedString()
    }

    private static func parse(_ text: String) -> (parameters: PasswordParameters, salt: Data, key: Data)? {
        let parts = text.split(separator: "$")
        guard parts.count == 4, parts[0] == "scrypt", let salt = Data(base64Encoded: String(parts[2])),
            let key = Data(base64Encoded: String(parts[3]))
        else { return nil }
        var parameters = PasswordParameters()
        for setting in parts[1].split(separator: ",") {
            let pair = setting.split(separator: "=")
            guard pair.count == 2, let value = Int(pair[1]), value > 0, value <= 64 else { return nil }
            switch pair[0] {
            case "ln": parameters.logN = min(value, 22)
            case "r": parameters.r = value
            case "p": parameters.p = value
            default: return nil
            }
        }
        return (parameters, salt, key)
    }
}
