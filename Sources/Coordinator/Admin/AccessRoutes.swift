import AdminAPI
import Hummingbird
import Storage

/// `tokens` and `audit`: who may use the admin API, and who has.
struct AccessRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .tokens) { _, _ in
            AdminTokenList(tokens: try await context.store.adminTokens().map { AdminTokenDocument($0) })
        }
        group.on(.post, .tokens) { request, _ in try await create(request) }
        group.on(.delete, .token) { _, route in
            let name = try route.value(of: .name)
            guard name != AdminGuard.bootstrap else {
                throw AdminError.conflict(
                    "bootstrap", "the token \(name) is that of the settings: change admin.token, or the token file")
            }
            try await context.store.removeAdminToken(name)
            return Response(status: .noContent)
        }
        group.answer(.get, .audit) { request, _ in
            let limit = try AdminRequest.limit(request)
            let before = try AdminRequest.after(request) { Int64($0) }
            let found = try await context.store.auditEntries(before: before, limit: limit)
            return AuditList(entries: found, next: found.count == limit ? found.last?.number : nil)
        }
    }

    private func create(_ request: Request) async throws -> Response {
        let body = try await AdminRequest.body(AdminTokenRequest.self, of: request)
        guard AdminRequest.isPlainName(body.name), body.name != AdminGuard.bootstrap else {
            throw AdminError.invalid(
                "name: expected 1 to 64 lower-case letters, digits, - and _, and not \(AdminGuard.bootstrap)")
        }
        guard let role: AdminRole = try AdminRequest.value(body.role, called: "role") else {
            throw AdminError.invalid("the key \"role\" is missing")
        }
        let token = AdminGuard.make()
        let record = AdminTokenRecord(
            name: body.name, digest: AdminGuard.digest(token), role: role, createdAt: context.now,
            createdBy: AdminCaller.current?.token ?? "")
        try await context.store.insert(record)
        return try AdminResponse.json(AdminTokenDocument(record, token: token), status: .created)
    }
}
