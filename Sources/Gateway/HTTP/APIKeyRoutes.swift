import Hummingbird
import Storage

/// A user's API keys, asked for with the refresh token: `P/auth/api_keys`.
struct APIKeyRoutes: Sendable {
    let accounts: AccountService
    let maxBodyBytes: Int

    func add(to router: Router<GatewayRequestContext>) {
        let root = RouterPath("\(AccountRoutes.root)/auth/api_keys")
        let keys = accounts.apiKeys
        router.post("\(root)") { request, _ in try await create(request) }
        router.get("\(root)") { request, _ in
            let user = try await accounts.authenticate(refresh: request.bearer)
            return AccountRoutes.json(try await keys.list(of: user).map { KeyDocument($0) }, noStore: true)
        }
        router.get("\(root)/:key") { request, context in
            let user = try await accounts.authenticate(refresh: request.bearer)
            let key = try await keys.key(try context.parameters.require("key"), of: user)
            return AccountRoutes.json(KeyDocument(key), noStore: true)
        }
        router.put("\(root)/:key/enable") { try await set(disabled: false, $0, $1) }
        router.put("\(root)/:key/disable") { try await set(disabled: true, $0, $1) }
        router.delete("\(root)/:key") { request, context in
            let user = try await accounts.authenticate(refresh: request.bearer)
            try await keys.remove(try context.parameters.require("key"), of: user)
            return Response(status: .noContent)
        }
    }

    private struct KeyDocument: Encodable {
        var _id: String
        /// Only in the answer to the request that made it.
        var key: String?
        var name: String
        var disabled: Bool

        init(_ record: APIKeyRecord, key: String? = nil) {
            _id = record.id
            self.key = key
            name = record.name
            disabled = record.isDisabled
        }
    }

    private struct Wish: Decodable { var name: String }

    private func create(_ request: Request) async throws -> Response {
        let user = try await accounts.authenticate(refresh: request.bearer)
        let wish: Wish = try await request.json(upTo: maxBodyBytes, expected: "a JSON object with a name")
        let (record, key) = try await accounts.apiKeys.create(for: user, name: wish.name)
        return AccountRoutes.json(KeyDocument(record, key: key), status: .created, noStore: true)
    }

    private func set(
        disabled: Bool, _ request: Request, _ context: GatewayRequestContext
    ) async throws -> Response {
        let user = try await accounts.authenticate(refresh: request.bearer)
        try await accounts.apiKeys.setDisabled(disabled, try context.parameters.require("key"), of: user)
        return Response(status: .noContent)
    }
}
