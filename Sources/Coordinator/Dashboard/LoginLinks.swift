import AdminAPI
import Synchronization

/// Codes that log in to the dashboard once each, at the coordinator that made them.
final class LoginLinks: Sendable {
    private struct Link {
        var tokenDigest: String
        var expiresAt: UInt64
    }

    /// How long a code is good for, in milliseconds.
    static let lifetime: UInt64 = 600_000
    /// Codes that may be open at once; a further one takes the place of the oldest.
    static let most = 100

    private let links = Mutex<[String: Link]>([:])

    /// - Parameter digest: of the token whose rights the session is to have.
    func make(for digest: String, at now: UInt64) -> LoginLinkDocument {
        let code = AdminGuard.make()
        let link = Link(tokenDigest: digest, expiresAt: now &+ Self.lifetime)
        links.withLock { links in
            links = links.filter { $0.value.expiresAt > now }
            if links.count >= Self.most, let oldest = links.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
                links[oldest.key] = nil
            }
            links[AdminGuard.digest(code)] = link
        }
        // Behind the #: browsers send it to nobody, and no log has it.
        return LoginLinkDocument(path: "/#/login/\(code)", expiresAt: link.expiresAt)
    }

    /// - Returns: the digest of the token that the code stands for; nil if there is no such code, or not any more.
    func take(_ code: String, at now: UInt64) -> String? {
        let link = links.withLock { $0.removeValue(forKey: AdminGuard.digest(code)) }
        return link.flatMap { $0.expiresAt > now ? $0.tokenDigest : nil }
    }
}
