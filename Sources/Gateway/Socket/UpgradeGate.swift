import Changesets
import Foundation
import HTTPTypes
import Logging
import Storage
import SyncModel
import SyncProtocol

/// Decides who may open a sync connection, and how the others are told (docs/http-api.md, "Opening the WebSocket").
struct UpgradeGate: Sendable {
    let apps: AppDirectory
    let accounts: AccountService
    let sockets: AppSockets
    let quotas: QuotaValues
    let rates: RateQuotas
    let isLinkUp: @Sendable () -> Bool
    let isStopping: @Sendable () -> Bool
    let clock: GatewayClock
    let metrics: GatewayMetrics
    let logger: Logger

    /// - Parameters:
    ///   - uri: path and query; the query holds a token and goes no further than here.
    ///   - compatibilities: what the client says of the rules that it knows.
    func decide(
        uri: String, subprotocols: [String], compatibilities: [String], userAgent: String?, address: ClientAddress
    ) async -> UpgradeDecision {
        let decision = await decision(uri, subprotocols, Self.known(compatibilities), userAgent, address)
        switch decision {
        case .accept(let upgrade):
            metrics.upgrade(upgrade.refusal.map { "\($0.code)" } ?? "accepted")
            logger.info(
                "a connection was opened",
                metadata: [
                    "app": "\(upgrade.app)", "connection": "\(upgrade.connectionID)", "mode": "\(upgrade.mode)",
                    "version": "\(upgrade.version)", "user": "\(upgrade.claims?.sub ?? "")",
                    "refused": "\(upgrade.refusal?.reason ?? "")",
                ])
        case .refuse(let error):
            metrics.upgrade("\(error.status.code)")
            logger.info(
                "a connection was refused", metadata: ["status": "\(error.status.code)", "reason": "\(error.message)"])
        }
        return decision
    }

    private func decision(
        _ uri: String, _ subprotocols: [String], _ compatibilities: Set<PeerCompatibility>, _ userAgent: String?,
        _ address: ClientAddress
    ) async -> UpgradeDecision {
        guard let id = Self.app(in: uri) else { return .refuse(.notFound) }
        guard !isStopping() else { return .refuse(.storeUnavailable) }
        let app: AppRecord
        let authorization: AccountService.SyncAuthorization
        do {
            guard let found = try await apps.app(id, allowing: { _ in true }) else { return .refuse(.unknownApp) }
            metrics.see(app: id)
            app = found
            authorization = try await accounts.authorizeSync(token: Self.token(in: uri), app: id)
        } catch {
            // Anything but 5xx would cost the client its login or a fatal error.
            logger.warning("a connection could not be judged", metadata: ["error": "\(type(of: error))"])
            return .refuse(.storeUnavailable)
        }
        let negotiated: NegotiatedProtocol
        do throws(NegotiationRefusal) {
            negotiated = try SubprotocolNegotiation.choose(from: subprotocols)
        } catch {
            switch authorization {
            case .allowed: return .refuse(.badRequest(error.description))
            // Such a client is too old to know close codes 4001 and 4002.
            case .refresh: return .refuse(.invalidSession)
            case .forbidden(let reason): return .refuse(APIError(.forbidden, "AuthError", reason))
            }
        }
        if case .allowed = authorization, !isLinkUp() { return .refuse(.storeUnavailable) }
        var user = AppUser(app: id, user: "")
        if case .allowed(let claims) = authorization { user.user = claims.sub }
        // Nobody knows whose a bad token is: those of one address count together.
        let opener = user.user.isEmpty ? AppUser(app: id, user: "from \(address.network)") : user
        switch rates.judge(.connect, of: opener, in: app) {
        case .goOn: break
        case .rest(let rest, let quota):
            metrics.slowed(by: quota, app: id)
            try? await Task.sleep(for: rest)
        case .refuse(let quota, let limit, let seconds):
            metrics.quotaMet(quota, app: id)
            return .refuse(
                .tooManySockets(quota.refusal(limit: limit, app: id, user: user.user), retryAfter: seconds))
        }
        let seat: AppSockets.Seat
        switch sockets.seat(for: user, userLimit: app.limit(of: .userSockets, by: quotas)) {
        case .seat(let taken): seat = taken
        case .appIsFull:
            metrics.socketRefused(app: id)
            return .refuse(
                .tooManySockets(
                    "app \(id) has \(sockets.limit) connections to this gateway, as many as it may have: try again later"
                ))
        case .userIsFull(let limit):
            metrics.quotaMet(.userSockets, app: id)
            return .refuse(.tooManySockets(Quota.userSockets.refusal(limit: limit, app: id, user: user.user)))
        }
        var upgrade = SyncUpgrade(
            connectionID: ObjectID.make(at: clock.unixMilliseconds()), app: id, mode: negotiated.mode,
            version: negotiated.version, clientVersion: negotiated.highestOffered, subprotocol: negotiated.token,
            userAgent: String((userAgent ?? "").prefix(256)), address: address, seat: seat)
        upgrade.compatibility = compatibilities.contains(app.compatibility) ? app.compatibility : nil
        switch authorization {
        case .allowed(let claims): upgrade.claims = claims
        case .refresh(let reason): upgrade.refusal = (CloseCode.unauthorized.rawValue, reason)
        case .forbidden(let reason): upgrade.refusal = (CloseCode.forbidden.rawValue, reason)
        }
        return .accept(upgrade)
    }

    /// The app of `/api/client/v2.0/app/<app>/realm-sync`; doubled slashes count as one.
    static func app(in uri: String) -> String? {
        let parts = uri.prefix { $0 != "?" }.split(separator: "/")
        guard parts.count == 6, parts[0..<4] == ["api", "client", "v2.0", "app"], parts[5] == "realm-sync" else {
            return nil
        }
        return String(parts[4]).removingPercentEncoding
    }

    /// The rules named in the values of a header; others are of a newer client.
    private static func known(_ values: [String]) -> Set<PeerCompatibility> {
        let names = values.lazy.flatMap { $0.split(separator: ",") }
        return Set(names.compactMap { PeerCompatibility(rawValue: $0.trimmingCharacters(in: .whitespaces)) })
    }

    private static func token(in uri: String) -> String {
        guard let mark = uri.firstIndex(of: "?") else { return "" }
        for pair in uri[uri.index(after: mark)...].split(separator: "&") where pair.hasPrefix("baas_at=") {
            let token = String(pair.dropFirst("baas_at=".count))
            return token.utf8.contains(UInt8(ascii: "%")) ? token.removingPercentEncoding ?? "" : token
        }
        return ""
    }
}
