import AdminAPI
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Turns every error into the API's own form.
struct AdminErrorMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext
    let logger: Logger

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let answer = AdminError(error)
            if answer.status.code >= 500 {
                logger.error(
                    "admin request failed",
                    metadata: ["route": "\(context.endpointPath ?? "none")", "error": "\(error)"])
            }
            var response = try AdminResponse.json(
                AdminProblem(error: answer.code, message: answer.message, findings: answer.findings),
                status: answer.status)
            response.headers[.allow] = answer.allow
            if answer.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
            return response
        }
    }
}

/// Lets only those in who bear the token; also for routes that do not exist, so that a stranger learns nothing.
struct AdminAuthenticationMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext
    let token: AdminToken

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let header = request.headers[.authorization],
            header.count > 7, header.prefix(7).lowercased() == "bearer ",
            token.matches(String(header.dropFirst(7)))
        else { throw AdminError.unauthorized }
        return try await next(request, context)
    }
}
