import AdminAPI
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Operations

/// The coordinator's admin API over HTTP (docs/admin-api.md).
struct AdminClient {
    let baseURL: String
    let token: Secret

    init(_ settings: ClusterSettings) throws {
        baseURL = settings.adminURL
        token = try settings.adminToken()
    }

    /// - Parameter path: what `AdminRoute.path` makes.
    func get<Answer: Decodable>(
        _ path: String, as type: Answer.Type = Answer.self, timeout: TimeAmount = .seconds(30)
    ) async throws -> Answer {
        try decode(try await exchange(.GET, path, body: nil, timeout: timeout))
    }

    func send<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, body: some AdminBody, as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        try decode(try await exchange(method, path, body: try JSONEncoder().encode(body)))
    }

    private func decode<Answer: Decodable>(_ data: Data) throws -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw CommandFailure(.internalError, "\(baseURL) answered what this version does not understand: \(error)")
        }
    }

    private func exchange(
        _ method: HTTPMethod, _ path: String, body: Data?, timeout: TimeAmount = .seconds(30)
    ) async throws -> Data {
        var request = HTTPClientRequest(url: baseURL + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token.revealed)")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(data: body))
        }
        let response: HTTPClientResponse
        do {
            response = try await HTTPClient.shared.execute(request, timeout: timeout)
        } catch {
            throw CommandFailure(
                .unreachable,
                "the coordinator at \(baseURL) does not answer: \(error); is it running, is the URL right?")
        }
        let data = Data(buffer: try await response.body.collect(upTo: 64 << 20))
        guard (200..<300).contains(response.status.code) else {
            throw failure(status: response.status, body: data, path: path)
        }
        return data
    }

    private func failure(status: HTTPResponseStatus, body: Data, path: String) -> CommandFailure {
        let message =
            (try? JSONDecoder().decode(AdminProblem.self, from: body))?.message
            ?? "\(baseURL)\(path) answered \(status.code) \(status.reasonPhrase)"
        let kind: CommandFailure.Kind =
            switch status.code {
            case 401, 403: .notAllowed
            case 404: .notFound
            case 400, 409, 422: .badInput
            case 429, 503: .tryAgain
            default: .internalError
            }
        return CommandFailure(kind, message)
    }
}
