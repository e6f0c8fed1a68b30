import AdminAPI
import Crypto
import Foundation
import HTTPTypes
import Storage
import SyncModel

/// Who sends an admin request.
struct AdminCaller: Sendable, Equatable {
    /// The name of the token.
    var token: String
    var role: AdminRole

    /// Whose request the task carries out.
    @TaskLocal static var current: AdminCaller?
}

/// Knows the admin tokens: the one of the settings, which may do everything, and those that were made by command.
struct AdminGuard: Sendable {
    /// The name of the settings' token.
    static let bootstrap = "bootstrap"

    let bootstrap: AdminToken
    let store: any AdminStore

    /// - Throws: `unauthorized`; `store_unavailable`.
    func caller(_ authorization: String?) async throws -> AdminCaller {
        guard let authorization, authorization.count > 7, authorization.prefix(7).lowercased() == "bearer " else {
            CoordinatorMetrics.adminRefused("missing")
            throw AdminError.noToken
        }
        let token = String(authorization.dropFirst(7))
        if bootstrap.matches(token) { return AdminCaller(token: Self.bootstrap, role: .own) }
        // None is shorter, so there is nothing to look up.
        if token.utf8.count >= AdminLimits.minTokenBytes,
            let known = try await store.adminToken(digest: Self.digest(token))
        {
            return AdminCaller(token: known.name, role: known.role)
        }
        CoordinatorMetrics.adminRefused("unknown")
        throw AdminError.unknownToken
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
