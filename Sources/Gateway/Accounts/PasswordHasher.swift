import Crypto
import CryptoExtras
import Foundation
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// The cost of scrypt; stored with every hash, so that it can be raised later.
package struct PasswordParameters: Sendable, Hashable {
    /// log2 of N. With 17 and r = 8, as OWASP recommends, a hash takes 128 MiB and about half a second.
    package var logN = 17
    package var r = 8
    package var p = 1
}

/// Hashes and checks passwords with scrypt, on threads of its own: neither an event loop nor a cooperative thread waits,
/// and where the processor is short, those go first. As many hashes are made at once as there are threads, so that is the
/// memory that they take; a bounded number waits, and one app's have at most half of the places.
///
/// A hash is `$scrypt$ln=17,r=8,p=1$<salt>$<key>`, both in base64.
final class PasswordHasher: Sendable {
    struct Verification: Sendable {
        var matches: Bool
        /// A new hash of the password, if it matches one that was made with other parameters than today's.
        var rehashed: String?
    }

    private let parameters: PasswordParameters
    let pool: NIOThreadPool
    private let queue: Int
    /// Hashes that are made or wait, by app.
    private let waiting = Mutex<[String: Int]>([:])
    /// What an unknown account's password is checked against, so that it costs the same time.
    private let decoy: String

    init(parameters: PasswordParameters, threads: Int, queue: Int) {
        self.parameters = parameters
        self.queue = queue
        pool = NIOThreadPool(numberOfThreads: max(1, threads))
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        decoy = Self.text(parameters, salt: Self.salt(), key: key)
    }

    func start() { pool.start() }

    func shutdown() async { try? await pool.shutdownGracefully() }

    /// - Throws: `overloaded` if too many wait, of this app or altogether.
    func hash(_ password: String, app: String) async throws(GatewayError) -> String {
        let parameters = self.parameters
        return try await run(app) { try Self.hash(password, parameters) }
    }

    /// - Parameter hash: nil for an unknown account; the answer is then no, after the same work.
    /// - Throws: `overloaded` if too many wait, of this app or altogether.
    func verify(
        _ password: String, against hash: String?, app: String
    ) async throws(GatewayError) -> Verification {
        let (parameters, decoy) = (self.parameters, self.decoy)
        return try await run(app) {
            guard let stored = Self.parse(hash ?? decoy) else {
                throw GatewayError(.passwordHash, "a stored password hash has an unknown form")
            }
            let key = try Self.derive(password, salt: stored.salt, stored.parameters)
            // SymmetricKey compares in constant time.
            let matches = SymmetricKey(data: key) == SymmetricKey(data: stored.key) && hash != nil
            let isOld = stored.parameters != parameters
            return Verification(
                matches: matches, rehashed: matches && isOld ? try Self.hash(password, parameters) : nil)
        }
    }

    private func run<T: Sendable>(
        _ app: String, _ work: @escaping @Sendable () throws -> T
    ) async throws(GatewayError) -> T {
        let refusal = waiting.withLock { waiting -> String? in
            let ofApp = waiting[app, default: 0]
            if ofApp >= max(1, queue / 2) { return "app \(app) has \(ofApp) passwords waiting to be checked" }
            let all = waiting.values.reduce(0, +)
            if all >= queue { return "\(all) passwords wait to be checked" }
            waiting[app] = ofApp + 1
            return nil
        }
        if let refusal { throw GatewayError(.overloaded, refusal) }
        defer {
            waiting.withLock { waiting in
                let left = waiting[app, default: 1] - 1
                waiting[app] = left > 0 ? left : nil
            }
        }
        do {
            return try await pool.runIfActive {
                Self.stepBack()
                return try work()
            }
        } catch let error as GatewayError {
            throw error
        } catch {
            throw GatewayError(.passwordHash, "the password could not be hashed", underlying: error)
        }
    }

    /// Lets the process's other threads go first where the processor is short.
    private static func stepBack() {
        #if canImport(Glibc)
        // On Linux 0 is this thread, not the process.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        #endif
    }

    private static func hash(_ password: String, _ parameters: PasswordParameters) throws -> String {
        let salt = salt()
        return text(parameters, salt: salt, key: try derive(password, salt: salt, parameters))
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
