import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Storage

/// Turns every error into the body that clients understand: exactly `application/json`, with `error`, `error_code` and
/// a `link` that names the request.
struct APIErrorMiddleware: RouterMiddleware {
    typealias Context = GatewayRequestContext

    let origin: @Sendable () -> String

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            response = self.response(answer(to: error, context), context)
        }
        // A head is answered as the rest would be, without the rest.
        if request.method == .head { response.body = ResponseBody() }
        return response
    }

    private func answer(to error: any Error, _ context: Context) -> APIError {
        switch error {
        case let known as APIError: return known
        case let failure as StoreError:
            context.logger.warning("the store failed", metadata: ["error": "\(failure)"])
            return failure.isRetriable ? .storeUnavailable : .internalError
        case let failure as GatewayError:
            context.logger.warning("a request failed", metadata: ["error": "\(failure)"])
            return failure.isRetriable ? .storeUnavailable : .internalError
        case let failure as HTTPError:
            return APIError(
                failure.status, failure.status == .notFound ? nil : "BadRequest", failure.body ?? "\(failure.status)")
        case is TokenError, is CancellationError: return .storeUnavailable
        default:
            // The value may hold what the client sent: only its type is logged.
            context.logger.error("unexpected error", metadata: ["error": "\(type(of: error))"])
            return .internalError
        }
    }

    private func response(_ error: APIError, _ context: Context) -> Response {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if let seconds = error.retryAfter { headers[.retryAfter] = String(seconds) }
        headers[.allow] = error.allow
        let body = error.body(origin: origin(), app: context.parameters.get("app"), request: context.id)
        return Response(status: error.status, headers: headers, body: .init(byteBuffer: body))
    }
}

extension APIError {
    private struct Body: Encodable {
        var error: String
        var error_code: String?
        var link: String
    }

    /// The error as JSON; its link names the request for the operator and holds nothing else that the client sent.
    func body(origin: String, app: String?, request: String) -> ByteBuffer {
        let app = app.map { "/apps/\($0.filter { $0.isLetter || $0.isNumber || $0 == "-" }.prefix(64))" } ?? ""
        return Body(error: message, error_code: code, link: "\(origin)\(app)/logs?co_id=\(request)").encoded
    }
}

extension Encodable {
    /// The value as compact JSON with plain slashes.
    var encoded: ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: (try? encoder.encode(self)) ?? Data("{}".utf8))
    }
}
