import Dashboard
import HTTPTypes
import Hummingbird
import NIOCore

/// Serves the dashboard's files, which hold nothing secret and so need no token, and has browsers trust nothing else.
struct DashboardMiddleware: RouterMiddleware {
    typealias Context = AdminRequestContext

    /// Scripts and styles are the dashboard's own files, requests go to this coordinator, and nothing may frame the pages.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        if request.method == .get || request.method == .head, let file = DashboardFile.served(at: request.uri.path) {
            response = answer(request, file)
        } else {
            response = try await next(request, context)
        }
        for (name, value) in Self.headers where response.headers[name] == nil { response.headers[name] = value }
        return response
    }

    private func answer(_ request: Request, _ file: DashboardFile) -> Response {
        // To be asked for each time: after an upgrade no page goes on with the scripts of the version before.
        var headers: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache"]
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map {
            $0.trimmingPrefix(while: \.isWhitespace)
        }
        if known?.contains(file.tag[...]) == true { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = file.type
        headers[.contentSecurityPolicy] = Self.policy
        headers[.contentLength] = "\(file.contents.count)"
        let isHead = request.method == .head
        return Response(
            status: .ok, headers: headers,
            body: isHead ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: file.contents)))
    }

    private static let headers: [(HTTPField.Name, String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}
