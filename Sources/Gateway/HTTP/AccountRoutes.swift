import Foundation
import Hummingbird
import NIOCore
import Operations
import Rules
import Storage
import SyncModel

/// The client API's account endpoints (docs/http-api.md).
struct AccountRoutes: Sendable {
    let accounts: AccountService
    let origin: @Sendable () -> String
    let maxBodyBytes: Int
    /// Called after a logout, so that the login's sockets close at once.
    let loggedOut: @Sendable (TokenClaims) async -> Void

    static let root = "api/client/v2.0"

    func add(to router: Router<GatewayRequestContext>) {
        let root = RouterPath(Self.root)
        let app = RouterPath("\(Self.root)/app/:app")
        router.get("\(app)/location") { request, context in try await location(context) }
        router.post("\(app)/auth/providers/:provider/login", use: login)
        router.post("\(app)/auth/providers/local-userpass/register", use: register)
        router.get("\(root)/auth/profile") { request, _ in try await profile(request) }
        router.post("\(root)/auth/session") { request, _ in
            Self.json(["access_token": try await accounts.refresh(request.bearer)], noStore: true)
        }
        router.delete("\(root)/auth/session") { request, _ in
            await loggedOut(try await accounts.logout(request.bearer))
            return Response(status: .noContent)
        }
        router.delete("\(root)/auth/delete") { request, _ in
            await loggedOut(try await accounts.deleteUser(request.bearer))
            return Response(status: .noContent)
        }
    }

    private func location(_ context: GatewayRequestContext) async throws -> Response {
        _ = try await accounts.app(try context.parameters.require("app"))
        let origin = origin()
        return Self.json([
            "deployment_model": "LOCAL", "location": "self", "hostname": origin,
            "ws_hostname": Self.webSocketOrigin(origin),
        ])
    }

    static func webSocketOrigin(_ origin: String) -> String {
        origin.hasPrefix("http") ? "ws" + origin.dropFirst("http".count) : origin
    }

    private struct Credentials: Decodable {
        var username: String?
        var email: String?
        var password: String?
        var key: String?
        var token: String?
    }

    private func login(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let app = try context.parameters.require("app")
        let provider = try context.parameters.require("provider")
        var linked: UserRecord?
        if request.uri.queryParameters["link"] == "true" {
            linked = try await accounts.linkingUser(request.bearer, app: app)
            guard [PasswordAccounts.provider, TokenAccounts.provider].contains(provider) else {
                throw APIError.notLinkable
            }
        }
        let login: Login
        switch provider {
        case "anon-user":
            _ = try await request.limitedBody(maxBodyBytes)
            login = try await accounts.loginAnonymously(app: app, address: context.address)
        case "local-userpass":
            let credentials = try await credentials(of: request)
            guard let username = credentials.username, let password = credentials.password else {
                throw APIError.badRequest("expected username and password")
            }
            login = try await accounts.passwords.login(
                app: try await accounts.app(app, allowing: \.emailPasswordLogin), email: username, password: password,
                linkingTo: linked,
                address: context.address)
        case APIKeyAccounts.provider:
            guard let key = try await credentials(of: request).key else { throw APIError.badRequest("expected key") }
            login = try await accounts.apiKeys.login(
                app: try await accounts.app(app), key: key, address: context.address)
        case TokenAccounts.provider:
            guard let token = try await credentials(of: request).token else {
                throw APIError.badRequest("expected token")
            }
            login = try await accounts.foreign.login(
                app: try await accounts.app(app), token: token, linkingTo: linked, address: context.address)
        default:
            _ = try await accounts.app(app)
            throw APIError.providerNotFound
        }
        return Self.json(
            [
                "access_token": login.accessToken, "refresh_token": login.refreshToken, "user_id": login.userID,
                "device_id": login.deviceID,
            ], noStore: true)
    }

    private func register(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let credentials = try await credentials(of: request)
        guard let email = credentials.email, let password = credentials.password else {
            throw APIError.badRequest("expected email and password")
        }
        let app = try await accounts.app(
            try context.parameters.require("app"), allowing: \.emailPasswordLogin)
        try await accounts.passwords.register(app: app, email: email, password: password, address: context.address)
        return Response(status: .created)
    }

    private struct Profile: Encodable {
        struct Identity: Encodable {
            var id: String
            var provider_type: String
        }
        var user_id: String
        /// The user's type as rules see it.
        var type: String
        var identities: [Identity]
        var data: [String: String]
        /// Nil, and not there, if there is none.
        var custom_data: JSONValue?
    }

    private func profile(_ request: Request) async throws -> Response {
        let (claims, user) = try await accounts.authenticate(request.bearer)
        var data = try await accounts.foreignProfile(of: user)
        if let email = user.email { data["email"] = email }
        return Self.json(
            Profile(
                user_id: user.id, type: claims.ruleKind.rawValue,
                identities: user.identities.map { .init(id: $0.id, provider_type: $0.provider) },
                data: data, custom_data: user.customData.flatMap { try? JSONParser.parse($0) }), noStore: true)
    }

    private func credentials(of request: Request) async throws -> Credentials {
        try await request.json(upTo: maxBodyBytes, expected: "a JSON object")
    }

    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, noStore: Bool = false
    ) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        if noStore { headers[.cacheControl] = "no-store" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: value.encoded))
    }
}

extension Request {
    /// The bearer token; clients that are logged out send `Bearer ` with nothing after it, which is none.
    var bearer: String {
        guard let value = headers[.authorization] else { return "" }
        guard value.lowercased().hasPrefix("bearer") else { return "" }
        return value.dropFirst("bearer".count).trimmingCharacters(in: .whitespaces)
    }

    /// The body, read as JSON.
    ///
    /// - Parameter expected: what the client is told to send if it is none such.
    func json<Body: Decodable>(upTo maxBytes: Int, expected: String) async throws -> Body {
        let data = Data(try await limitedBody(maxBytes).readableBytesView)
        guard let body = try? JSONDecoder().decode(Body.self, from: data) else {
            throw APIError.badRequest("expected \(expected)")
        }
        return body
    }

    func limitedBody(_ maxBytes: Int) async throws -> ByteBuffer {
        if let text = headers[.contentLength], let length = Int(text), length > maxBytes { throw APIError.tooLarge }
        do {
            return try await wholeBody(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            throw APIError.tooLarge
        } catch let late as LateRequestBody {
            throw late.isStopping ? APIError.storeUnavailable : APIError.late
        }
    }
}
