import SyncModel
import SyncProtocol

/// A logged-in user of an app, and the address from which its client connects.
struct Account: Sendable {
    static let root = "/api/client/v2.0"

    var app: String
    var id: String
    var accessToken: String
    var refreshToken: String
    var source: String

    static func anonymous(of app: String, _ exchange: HTTPExchange) async throws -> Account {
        try await login(
            app, exchange, provider: "anon-user", body: #"{"provider":"anon-user"}"#)
    }

    static func register(_ email: String, _ password: String, of app: String, _ exchange: HTTPExchange) async throws {
        let path = "\(root)/app/\(app)/auth/providers/local-userpass/register"
        let answer = try await exchange.ask(
            "POST", path, body: Array(#"{"email":"\#(email)","password":"\#(password)"}"#.utf8), patience: .seconds(120)
        )
        guard answer.status == 201 else {
            throw Refused("registering answered \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
    }

    static func login(
        _ email: String, _ password: String, of app: String, _ exchange: HTTPExchange
    ) async throws -> Account {
        try await login(
            app, exchange, provider: "local-userpass",
            body: #"{"username":"\#(email)","password":"\#(password)"}"#)
    }

    static func login(byToken token: String, of app: String, _ exchange: HTTPExchange) async throws {
        _ = try await login(app, exchange, provider: "custom-token", body: #"{"token":"\#(token)"}"#)
    }

    private static func login(
        _ app: String, _ exchange: HTTPExchange, provider: String, body: String
    ) async throws -> Account {
        let answer = try await exchange.ask(
            "POST", "\(root)/app/\(app)/auth/providers/\(provider)/login", body: Array(body.utf8))
        let values = answer.strings
        guard answer.status == 200, let id = values["user_id"], let access = values["access_token"],
            let refresh = values["refresh_token"]
        else { throw Refused("a login answered \(answer.status) \(values["error"] ?? "")") }
        return Account(app: app, id: id, accessToken: access, refreshToken: refresh, source: exchange.source)
    }

    /// Asks for a new access token, as clients do that have none that is good.
    func refresh(_ exchange: HTTPExchange) async throws -> Account {
        let answer = try await exchange.ask("POST", "\(Self.root)/auth/session", bearer: refreshToken)
        guard let access = answer.strings["access_token"] else {
            throw Refused("a refresh answered \(answer.status)")
        }
        var account = self
        account.accessToken = access
        return account
    }

    /// The request that opens the WebSocket.
    func upgrade(_ mode: SyncMode) -> String {
        let offers = SubprotocolNegotiation.offer(mode: mode).joined(separator: ", ")
        return """
            GET \(Self.root)/app/\(app)/realm-sync?baas_at=\(accessToken) HTTP/1.1\r
            Host: 127.0.0.1\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Protocol: \(offers)\r
            User-Agent: siege\r
            \r

            """
    }
}
