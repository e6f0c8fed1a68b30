package import Hummingbird
package import NIOCore
import ServiceLifecycle
import SyncModel

/// A request's body had not come whole when it was waited for no longer.
package struct LateRequestBody: Error, Sendable {
    /// The process stops; else the client took too long.
    package let isStopping: Bool
}

extension Request {
    /// How long a body may take to come. Everything that is served here is small.
    package static var bodyPatience: Duration { .seconds(10) }

    /// The whole body.
    ///
    /// Whoever waits for it holds up an orderly end of the process, so the wait ends with the process, too.
    /// - Throws: `LateRequestBody`; `NIOTooManyBytesError`.
    package func wholeBody(
        upTo maxBytes: Int, within patience: Duration = Request.bodyPatience
    ) async throws -> ByteBuffer {
        let body = body
        do {
            return try await cancelWhenGracefulShutdown {
                try await withDeadline(patience) { try await body.collect(upTo: maxBytes) }
            }
        } catch is CancellationError {
            throw LateRequestBody(isStopping: true)
        } catch is DeadlinePassed {
            throw LateRequestBody(isStopping: false)
        } catch let error as NIOTooManyBytesError {
            throw error
        } catch {
            // The client has left, or has sent less than it announced: no mistake of ours.
            throw HTTPError(.badRequest, message: "the request's body ended before its end")
        }
    }
}
