import HTTPTypes
import Hummingbird
import Synchronization

/// The places of what takes long, such as event streams: each is taken by whoever has the token, until nobody has it any more.
final class EventPlaces: Sendable {
    final class Token: Sendable {
        private let places: EventPlaces

        fileprivate init(_ places: EventPlaces) { self.places = places }

        deinit { places.taken.withLock { $0 -= 1 } }

        /// An answer that is written in this place for as long as it takes; lines of JSON, if the headers say nothing else.
        func response(
            headers: HTTPFields = [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            _ write: @Sendable @escaping (inout any ResponseBodyWriter) async throws -> Void
        ) -> Response {
            Response(
                status: .ok, headers: headers,
                body: ResponseBody { writer in
                    // Given back with this closure, also where nobody ever calls it: the client may be gone by then.
                    defer { withExtendedLifetime(self) {} }
                    try await write(&writer)
                    try await writer.finish(nil)
                })
        }
    }

    private let most: Int
    private let what: String
    private let code: String
    private let taken = Mutex(0)

    /// - Parameters:
    ///   - what: has taken the places, for the error.
    ///   - code: of the error.
    init(_ most: Int, of what: String = "event streams are open", code: String = "too_many_streams") {
        self.most = most
        self.what = what
        self.code = code
    }

    /// - Throws: `unavailable` with the code if all are taken.
    func require() throws(AdminError) -> Token {
        let isFree = taken.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        guard isFree else { throw .unavailable(code, "\(most) \(what) already: try again") }
        return Token(self)
    }
}
