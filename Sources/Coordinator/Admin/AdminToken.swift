import AdminAPI
import Crypto
import Foundation
import Operations
import SyncModel

/// The admin token of the settings, which may do everything. Only its digest is kept.
struct AdminToken: Sendable {
    private let digest: SHA256.Digest

    init(_ token: String) { digest = SHA256.hash(data: Data(token.utf8)) }

    /// Compares digests, in constant time (swift-crypto's `==` of digests), so that timing tells nothing.
    func matches(_ candidate: String) -> Bool { SHA256.hash(data: Data(candidate.utf8)) == digest }

    /// The digest as the digests of tokens that were made by command are written.
    var digestText: String { HexBytes(Array(digest)).hex }

    /// What the dashboard's sessions are sealed with: the same at all coordinators with this token.
    var sessionKey: SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(digest)), info: Data("sluice dashboard session".utf8),
            outputByteCount: 32)
    }

    /// The configured token; or, for a coordinator that only its own machine can reach, the one in the token file, which
    /// is made up if there is none yet.
    static func resolve(_ configuration: CoordinatorConfiguration) throws(CoordinatorError) -> AdminToken {
        let given = configuration.adminToken.revealed
        if !given.isEmpty {
            guard given.utf8.count >= AdminLimits.minTokenBytes else {
                throw CoordinatorError(
                    .noAdminToken,
                    "admin.token has \(given.utf8.count) bytes, expected at least \(AdminLimits.minTokenBytes): take one "
                        + "from: openssl rand -hex 32")
            }
            return AdminToken(given)
        }
        guard Loopback.contains(configuration.host) else {
            throw CoordinatorError(
                .noAdminToken,
                "the admin API listens on \(configuration.host), which others can reach: set admin.token")
        }
        guard let path = configuration.adminTokenFile else {
            throw CoordinatorError(
                .noAdminToken, "the admin API needs a token: set admin.token, or admin.token_file to have one made up")
        }
        if let known = try read(path) { return AdminToken(known) }
        return AdminToken(try create(path))
    }

    private static func read(_ path: String) throws(CoordinatorError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot be read", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read", path) }
        guard status.st_mode & 0o077 == 0 else {
            throw CoordinatorError(.tokenFile, "the token file \(path) can be read by others: chmod 600, or delete it")
        }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure("cannot be read", path) }
        let token = String(decoding: bytes.prefix(count), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard token.utf8.count >= AdminLimits.minTokenBytes else {
            throw CoordinatorError(
                .tokenFile,
                "the token file \(path) holds no token of \(AdminLimits.minTokenBytes) bytes or more: delete it")
        }
        return token
    }

    /// - Returns: the token in the file; another process's, if that was faster.
    private static func create(_ path: String) throws(CoordinatorError) -> String {
        let token = HexBytes((0..<32).map { _ in UInt8.random(in: .min ... .max) }).hex
        // Whole under another name first: nobody must ever see half a token.
        let temporary = "\(path).\(token.prefix(8)).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written", path) }
        defer { unlink(temporary) }
        let line = Array("\(token)\n".utf8)
        let written = write(descriptor, line, line.count)
        guard close(descriptor) == 0, written == line.count else { throw failure("cannot be written", path) }
        guard link(temporary, path) == 0 else {
            if errno == EEXIST, let faster = try read(path) { return faster }
            throw failure("cannot be written", path)
        }
        return token
    }

    private static func failure(_ what: String, _ path: String) -> CoordinatorError {
        CoordinatorError(.tokenFile, "the token file \(path) \(what): \(String(cString: strerror(errno)))")
    }
}
