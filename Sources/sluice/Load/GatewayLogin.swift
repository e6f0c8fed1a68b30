import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Synchronization

/// Logs in at a gateway as clients do.
struct GatewayLogin {
    let origin: String
    let app: String
    let authorities: String?

    /// How often somebody who is told to come later does.
    private static let attempts = 20

    func anonymousToken() async throws -> String { try await token("anon-user", ["provider": "anon-user"]) }

    func token(apiKey: String) async throws -> String { try await token("api-key", ["key": apiKey]) }

    private func token(_ provider: String, _ body: [String: String]) async throws -> String {
        struct Login: Decodable { var access_token: String }
        var request = HTTPClientRequest(
            url: "\(origin)/api/client/v2.0/app/\(app)/auth/providers/\(provider)/login")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        for attempt in 1...Self.attempts {
            let answer: HTTPAnswer
            do {
                answer = try await HTTPAnswer.of(
                    request, timeout: .seconds(30), maxBytes: 1 << 20, trusting: authorities)
            } catch {
                throw CommandFailure(
                    .unreachable, "the gateway at \(origin) does not answer: \(HTTPAnswer.words(for: error))")
            }
            switch answer.status.code {
            case 200, 201:
                guard let login = try? JSONDecoder().decode(Login.self, from: answer.body) else {
                    throw CommandFailure(.internalError, "\(origin) answers a login not as a gateway does")
                }
                return login.access_token
            case 429, 503:
                guard attempt < Self.attempts else { continue }
                let pause = answer.headers.first(name: "Retry-After").flatMap(Double.init) ?? 1
                try await Task.sleep(for: .seconds(min(max(pause, 0.5), 30)))
            case 404: throw CommandFailure(.notFound, "there is no app \(app) at \(origin)")
            default:
                throw CommandFailure(
                    answer.status.code == 401 || answer.status.code == 403 ? .notAllowed : .tryAgain,
                    "\(provider) login at \(origin): status \(answer.status.code) "
                        + String(decoding: answer.body.prefix(200), as: UTF8.self))
            }
        }
        throw CommandFailure(.tryAgain, "\(origin) lets nobody log in: too many have tried")
    }
}

/// What was said last.
final class LastWords: Sendable {
    private let words = Mutex("")

    func areNew(_ words: String) -> Bool {
        self.words.withLock { last in
            defer { last = words }
            return last != words
        }
    }
}
