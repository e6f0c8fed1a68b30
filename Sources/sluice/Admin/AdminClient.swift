import AdminAPI
import AsyncHTTPClient
import ExtendedJSON
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Operations

/// The coordinator's admin API over HTTP (docs/admin-api.md).
struct AdminClient {
    let baseURL: String
    let token: Secret
    /// A PEM file of authorities that are trusted beside the system's.
    let authorities: String?
    private static let maxAnswerBytes = 64 << 20

    init(_ settings: ClusterSettings) throws {
        baseURL = settings.adminURL
        token = try settings.adminToken()
        authorities = settings.configuration.authoritiesFile
    }

    /// Asks the coordinator.
    ///
    /// - Parameters:
    ///   - path: what `AdminRoute.path` makes.
    ///   - body: what to send; nil with GET.
    func ask<Answer: Decodable>(
        _ path: String, _ method: HTTPMethod = .GET, body: (any AdminBody)? = nil, timeout: TimeAmount = .seconds(30)
    ) async throws -> Answer {
        let json = try body.map { try JSONEncoder().encode($0) }
        let answer = try await send(path, method, json: json, timeout: timeout)
        do {
            return try JSONDecoder().decode(Answer.self, from: answer.body)
        } catch {
            throw CommandFailure(.internalError, "\(baseURL) answered what this version does not understand: \(error)")
        }
    }

    /// Asks the coordinator for what carries documents, whose values keep their types.
    func document(
        _ path: String, _ method: HTTPMethod = .GET, body: [UInt8]? = nil, timeout: TimeAmount = .seconds(60)
    ) async throws -> BSONDocument {
        let answer = try await send(path, method, json: body.map { Data($0) }, timeout: timeout)
        do throws(ExtendedJSONError) {
            return try ExtendedJSONParser.parseDocument(
                Array(answer.body), limits: ExtendedJSONLimits(bytes: Self.maxAnswerBytes, values: 10_000_000))
        } catch {
            throw CommandFailure(.internalError, "\(baseURL) answered what this version does not understand: \(error)")
        }
    }

    /// Asks the coordinator for something that has no answer but that it is done.
    func tell(_ path: String, _ method: HTTPMethod) async throws {
        _ = try await send(path, method, json: nil, timeout: .seconds(30))
    }

    private func send(
        _ path: String, _ method: HTTPMethod, json body: Data?, timeout: TimeAmount
    ) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: baseURL + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token.revealed)")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(data: body))
        }
        let answer: HTTPAnswer
        do {
            answer = try await HTTPAnswer.of(
                request, timeout: timeout, maxBytes: Self.maxAnswerBytes, trusting: authorities)
        } catch {
            throw CommandFailure(
                .unreachable,
                "the coordinator at \(baseURL) does not answer: \(error); is it running, is the URL right?")
        }
        guard (200..<300).contains(answer.status.code) else {
            throw Self.failure(
                (try? JSONDecoder().decode(AdminProblem.self, from: answer.body)), status: answer.status,
                url: baseURL + path)
        }
        return answer
    }

    private static func failure(
        _ problem: AdminProblem?, status: HTTPResponseStatus, url: String
    ) -> any Error {
        var message = problem?.message ?? "\(url) answered \(status.code) \(status.reasonPhrase)"
        if let findings = problem?.findings { message += "\n" + FindingLines.text(of: findings) }
        let kind: CommandFailure.Kind =
            switch status.code {
            case 401, 403: .notAllowed
            case 404: .notFound
            case 400, 409, 422: .badInput
            case 429, 503: .tryAgain
            default: .internalError
            }
        let failure = CommandFailure(kind, message)
        return problem?.write.map { RefusedWrite(write: $0, failure: failure) } ?? failure
    }
}

/// A request that writes documents was refused for one of its writes: none was done.
struct RefusedWrite: Error {
    /// Counted from 0.
    var write: Int
    var failure: CommandFailure
}
