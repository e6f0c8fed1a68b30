import AdminAPI
import HTTPTypes
import Hummingbird
import Logging

/// Turns every error into the API's own form.
struct AdminErrorMiddleware: RouterMiddleware {
    typealias Context = AdminRequestContext
    let logger: Logger

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let answer = AdminError(error)
            if answer.status.code >= 500, !(error is CancellationError) {
                logger.error(
                    "admin request failed",
                    metadata: ["route": "\(context.endpointPath ?? "none")", "error": "\(error)"])
            }
            var response = try AdminResponse.json(
                AdminProblem(
                    error: answer.code, message: answer.message, findings: answer.findings, write: answer.write),
                status: answer.status)
            response.headers[.allow] = answer.allow
            if answer.isLast { response.headers[.connection] = "close" }
            if answer.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
            return response
        }
    }
}

/// Lets only those in who bear a token, also for routes that do not exist, so that a stranger learns nothing; and only
/// those to a route whose token's role may use it. What is to change something is in the audit log.
struct AdminAuthenticationMiddleware: RouterMiddleware {
    typealias Context = AdminRequestContext
    let access: AdminGuard
    let trail: AuditTrail

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        // A caller that logs in says in the body who it is.
        if request.method == .post, context.endpointPath.flatMap({ AdminRoute(endpoint: $0) }) == .session {
            return try await next(request, context)
        }
        let caller = try await access.caller(of: request)
        guard request.method != .get, request.method != .head else {
            return try await carryOut(request, of: caller, context, next)
        }
        return try await trail.noting(request, of: caller, from: context.address) {
            try await carryOut(request, of: caller, context, next)
        }
    }

    private func carryOut(
        _ request: Request, of caller: AdminCaller, _ context: Context,
        _ next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let route = context.endpointPath.flatMap({ AdminRoute(endpoint: $0) }) {
            try access.check(caller, may: request.method, route)
        }
        return try await AdminCaller.$current.withValue(caller) { try await next(request, context) }
    }
}
