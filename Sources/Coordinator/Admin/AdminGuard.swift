import AdminAPI
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Storage
import SyncModel

/// The sender of an admin request.
struct AdminCaller: Sendable, Equatable {
    /// The name of the token.
    var token: String
    var role: AdminRole
    /// The digest of the token.
    var digest: String
    /// The dashboard's session that the request belongs to; nil of one that bears the token itself.
    var session: DashboardSession?

    /// The caller whose request the task carries out.
    @TaskLocal static var current: AdminCaller?
}

/// Knows the admin tokens: the one of the settings, which may do everything, and those that were made by command.
struct AdminGuard: Sendable {
    /// The name of the settings' token.
    static let bootstrap = "bootstrap"

    /// What a request of the dashboard that is to change something bears: a page of somebody else cannot set it.
    static let pageHeader = HTTPField.Name("X-Sluice-Dashboard")

    let bootstrap: AdminToken
    let store: any AdminStore
    let sealer: SessionSealer
    let ended: EndedSessions
    let clock: WallClock

    init(
        bootstrap: AdminToken, store: any AdminStore, isSecure: Bool = false, ended: EndedSessions = EndedSessions(),
        clock: WallClock = .system
    ) {
        self.bootstrap = bootstrap
        self.store = store
        sealer = SessionSealer(key: bootstrap.sessionKey, isSecure: isSecure)
        self.ended = ended
        self.clock = clock
    }

    /// - Throws: `unauthorized`; `store_unavailable`.
    func caller(of request: Request) async throws -> AdminCaller {
        if let authorization = request.headers[.authorization] { return try await caller(authorization) }
        guard let cookie = Self.cookie(sealer.cookieName, of: request) else {
            CoordinatorMetrics.adminRefused("missing")
            throw AdminError.noToken
        }
        guard let session = sealer.open(cookie, at: clock.now()), !ended.isEnded(session.id),
            var caller = try await caller(digest: session.digest)
        else {
            CoordinatorMetrics.adminRefused("unknown")
            throw AdminError.endedSession
        }
        if request.method != .get, request.method != .head { try Self.checkOrigin(request) }
        caller.session = session
        if session.isForLooking == true { caller.role = .read }
        return caller
    }

    /// - Throws: `unauthorized`; `store_unavailable`.
    func caller(_ authorization: String?) async throws -> AdminCaller {
        guard let authorization, authorization.count > 7, authorization.prefix(7).lowercased() == "bearer " else {
            CoordinatorMetrics.adminRefused("missing")
            throw AdminError.noToken
        }
        let token = String(authorization.dropFirst(7))
        if bootstrap.matches(token) {
            return AdminCaller(token: Self.bootstrap, role: .own, digest: bootstrap.digestText)
        }
        // No admin token is shorter, so there is nothing to look up.
        if token.utf8.count >= AdminLimits.minTokenBytes, let known = try await caller(digest: Self.digest(token)) {
            return known
        }
        CoordinatorMetrics.adminRefused("unknown")
        throw AdminError.unknownToken
    }

    /// Returns the caller who has the token with this digest; nil if there is none, or not any more.
    func caller(digest: String) async throws -> AdminCaller? {
        if digest == bootstrap.digestText {
            return AdminCaller(token: Self.bootstrap, role: .own, digest: digest)
        }
        return try await store.adminToken(digest: digest)
            .map { AdminCaller(token: $0.name, role: $0.role, digest: digest) }
    }

    /// That a request comes from the dashboard and not from a page of somebody else, which could have the browser send the cookie along.
    static func checkOrigin(_ request: Request) throws(AdminError) {
        let origin = request.headers[.origin]
        let isOwn = origin.map { $0.hasSuffix("://\(request.head.authority ?? "")") } ?? true
        guard isOwn, let pageHeader, request.headers[pageHeader] == "1" else {
            CoordinatorMetrics.adminRefused("origin")
            throw .forbidden(
                "requests with a session's cookie that change something are taken from the dashboard's own pages only")
        }
    }

    private static func cookie(_ name: String, of request: Request) -> String? {
        request.headers[values: .cookie].lazy.flatMap { $0.split(separator: ";") }
            .map { $0.trimmingPrefix(while: \.isWhitespace) }
            .first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// - Throws: `forbidden`.
    func check(_ caller: AdminCaller, may method: HTTPRequest.Method, _ route: AdminRoute) throws(AdminError) {
        let needed = route.role(for: method.rawValue)
        guard caller.role < needed else { return }
        CoordinatorMetrics.adminRefused("role")
        throw .forbidden(
            "\(method.rawValue) \(route.rawValue) needs the role \(needed.rawValue), and token \(caller.token) has "
                + "\(caller.role.rawValue)")
    }

    /// A new token that nobody can guess.
    static func make() -> String {
        HexBytes(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }).hex
    }

    static func digest(_ token: String) -> String {
        HexBytes(Array(SHA256.hash(data: Data(token.utf8)))).hex
    }
}
