import Hummingbird
import Storage

/// What mails lead to: `confirm`, `confirm/send`, `reset` and `reset/send` of `local-userpass`.
struct MailedAccountRoutes: Sendable {
    let accounts: AccountService
    let maxBodyBytes: Int

    private struct Body: Decodable {
        var email: String?
        var password: String?
        var token: String?
        var tokenId: String?
    }

    func add(to router: Router<GatewayRequestContext>) {
        let path = RouterPath("\(AccountRoutes.root)/app/:app/auth/providers/local-userpass")
        let passwords = accounts.passwords
        router.post("\(path)/confirm") { request, context in
            let (app, body) = try await read(request, context)
            let (token, id) = (try Self.need(body.token, "token"), try Self.need(body.tokenId, "tokenId"))
            try await passwords.confirm(app: app, id: id, token: token, address: context.address)
            return Response(status: .noContent)
        }
        router.post("\(path)/confirm/send") { request, context in
            let (app, body) = try await read(request, context)
            try await passwords.sendConfirmation(
                app: app, email: try Self.need(body.email, "email"), address: context.address)
            return Response(status: .noContent)
        }
        router.post("\(path)/reset") { request, context in
            let (app, body) = try await read(request, context)
            let (token, id) = (try Self.need(body.token, "token"), try Self.need(body.tokenId, "tokenId"))
            try await passwords.reset(
                app: app, id: id, token: token, password: try Self.need(body.password, "password"),
                address: context.address)
            return Response(status: .noContent)
        }
        router.post("\(path)/reset/send") { request, context in
            let (app, body) = try await read(request, context)
            try await passwords.sendReset(
                app: app, email: try Self.need(body.email, "email"), address: context.address)
            return Response(status: .noContent)
        }
    }

    private func read(_ request: Request, _ context: GatewayRequestContext) async throws -> (AppRecord, Body) {
        let body: Body = try await request.json(upTo: maxBodyBytes, expected: "a JSON object")
        let app = try context.parameters.require("app")
        return (try await accounts.app(app, allowing: \.emailPasswordLogin), body)
    }

    private static func need(_ value: String?, _ key: String) throws -> String {
        guard let value else { throw APIError.badRequest("expected \(key)") }
        return value
    }
}
