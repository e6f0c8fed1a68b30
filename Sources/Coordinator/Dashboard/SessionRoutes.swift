import AdminAPI
import HTTPTypes
import Hummingbird
import Logging
import Messages
import Storage

/// `session`: log in to the dashboard, see who is logged in, log out.
struct SessionRoutes: Sendable {
    let context: CoordinatorContext
    let access: AdminGuard
    let trail: AuditTrail
    private let links = LoginLinks()
    private let brake = LoginBrake()

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.post, .session) { request, context in try await logIn(request, from: context.address) }
        group.answer(.get, .session) { _, _ in
            guard let caller = AdminCaller.current else { throw AdminError.noToken }
            return document(of: caller)
        }
        group.on(.delete, .session) { _, _ in
            // A request that bears the token itself has no session to end.
            guard let session = AdminCaller.current?.session else { return Response(status: .noContent) }
            return await logOut(session)
        }
        group.on(.post, .sessionLink) { request, _ in
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            guard let digest = AdminCaller.current?.digest else { throw AdminError.noToken }
            var link = links.make(for: digest, at: context.now)
            link.origin = context.configuration.publicURL
            return try AdminResponse.json(link, status: .created)
        }
    }

    private func document(of caller: AdminCaller) -> SessionDocument {
        SessionDocument(token: caller.token, role: caller.role, expiresAt: caller.session?.expiresAt)
    }

    /// The one request that needs no token in its head: the body has it.
    private func logIn(_ request: Request, from address: String?) async throws -> Response {
        try AdminGuard.checkOrigin(request)
        let body = try await AdminRequest.body(SessionRequest.self, of: request)
        let now = context.now
        let digest: String
        switch (body.token, body.code) {
        case (let token?, nil): digest = AdminGuard.digest(token)
        case (nil, let code?): digest = links.take(code, at: now) ?? ""
        default: throw AdminError.invalid("expected either the key \"token\" or the key \"code\"")
        }
        guard var caller = try await access.caller(digest: digest) else {
            CoordinatorMetrics.adminRefused("unknown")
            guard !brake.wrong(at: now) else { throw AdminError.tooManyLogins }
            throw body.code == nil ? AdminError.unknownToken : AdminError.spentLink
        }
        var session = DashboardSession(digest: digest, now: now)
        caller.session = session
        let answer = try entered(caller, session)
        do {
            return try await trail.noting(request, of: caller, from: address) { answer }
        } catch let error as StoreError where error.isRetriable {
            // The store may be away, which is when a dashboard is opened: a login that cannot be written down may look, and change nothing.
            context.logger.warning(
                "somebody logged in who is not in the audit log, and may only look",
                metadata: ["token": "\(caller.token)", "error": "\(error)"])
            session.isForLooking = true
            caller.role = .read
            return try entered(caller, session)
        }
    }

    private func entered(_ caller: AdminCaller, _ session: DashboardSession) throws -> Response {
        let cookie =
            "\(access.sealer.cookieName)=\(try access.sealer.seal(session)); Max-Age=\(DashboardSession.lifetime / 1000)"
        var answer = try AdminResponse.json(document(of: caller), status: .created)
        answer.headers[.setCookie] = cookie + attributes
        return answer
    }

    private func logOut(_ session: DashboardSession) async -> Response {
        context.sessions.end(session.id, expiresAt: session.expiresAt, now: context.now)
        do {
            try await context.link.tell(
                DashboardLogout(session: session.id, expiresAt: session.expiresAt),
                exchange: context.topology.outcomes, routingKey: Topology.figuresKey)
        } catch {
            context.logger.warning(
                "other coordinators not told of a log-out from the dashboard", metadata: ["error": "\(error)"])
        }
        return Response(
            status: .noContent, headers: [.setCookie: "\(access.sealer.cookieName)=; Max-Age=0" + attributes])
    }

    private var attributes: String {
        "; Path=/; HttpOnly; SameSite=Strict" + (context.configuration.tls == nil ? "" : "; Secure")
    }
}
