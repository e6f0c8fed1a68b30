import Crypto
import Foundation
import SyncModel

/// The content of the cookie of a session of the dashboard, which says who is logged in. The cookie is sealed, so that
/// nobody but a coordinator with the same token in its settings can read it or make one; so a session goes on at
/// another coordinator, and none has to remember it.
struct DashboardSession: Codable, Equatable, Sendable {
    /// How long a session lasts, in milliseconds: a working day.
    static let lifetime: UInt64 = 12 * 3_600_000

    /// 32 hexadecimal digits, for the log-out.
    var id: String
    /// The digest of the token that it was made with: the session has its rights, and ends with it.
    var digest: String
    /// Milliseconds of Unix time.
    var expiresAt: UInt64
    /// Set in a session that may only look, whatever its token may: it began while nobody could write down that it did.
    var isForLooking: Bool?

    init(digest: String, now: UInt64) {
        id = HexBytes(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }).hex
        self.digest = digest
        expiresAt = now &+ Self.lifetime
    }
}

/// Seals sessions with a key made of the settings' token.
struct SessionSealer: Sendable {
    /// The longest cookie that is looked at.
    static let maxText = 1_000

    private let key: SymmetricKey
    /// The name of the cookie, another one for each cluster: browsers do not tell ports of one host apart.
    let cookieName: String

    /// - Parameter isSecure: whether the coordinator speaks TLS.
    init(key: SymmetricKey, isSecure: Bool) {
        self.key = key
        let mark = HexBytes(Array(HMAC<SHA256>.authenticationCode(for: Data("cookie".utf8), using: key).prefix(4))).hex
        cookieName = (isSecure ? "__Host-" : "") + "sluice-\(mark)"
    }

    func seal(_ session: DashboardSession) throws -> String {
        let box = try ChaChaPoly.seal(try JSONEncoder().encode(session), using: key)
        return box.combined.base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: nil if no coordinator with this key has sealed it, or its time is over.
    func open(_ text: String, at now: UInt64) -> DashboardSession? {
        guard text.utf8.count <= Self.maxText else { return nil }
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), let box = try? ChaChaPoly.SealedBox(combined: data),
            let plain = try? ChaChaPoly.open(box, using: key),
            let session = try? JSONDecoder().decode(DashboardSession.self, from: plain), now < session.expiresAt
        else { return nil }
        return session
    }
}
