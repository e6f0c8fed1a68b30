import AdminAPI
import AsyncHTTPClient
import ExtendedJSON
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Operations
import Synchronization

/// The coordinator's admin API over HTTP (docs/admin-api.md).
final class AdminClient: Sendable {
    /// The coordinators, in the order in which they are asked; the first that answers is asked from then on.
    private let urls: [String]
    private let chosen = Mutex(0)
    let token: Secret
    /// A PEM file of authorities that are trusted beside the system's.
    let authorities: String?
    private static let maxAnswerBytes = 64 << 20

    init(_ settings: ClusterSettings) throws {
        urls = settings.adminURLs
        guard !urls.isEmpty else {
            throw CommandFailure(
                .badInput, "SLUICE_COORDINATOR_URL: expected http://host:port, or several with commas between")
        }
        token = try settings.adminToken()
        authorities = settings.configuration.authoritiesFile
    }

    /// The coordinator that is asked.
    var baseURL: String { urls[chosen.withLock(\.self)] }

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
        let answer = try await answer(to: &request, path, timeout: timeout)
        guard (200..<300).contains(answer.status.code) else {
            throw Self.failure(
                (try? JSONDecoder().decode(AdminProblem.self, from: answer.body)), status: answer.status,
                url: baseURL + path)
        }
        return answer
    }

    /// The answer of the first coordinator that can be reached. One that was reached is not passed over: it may have done what was asked.
    private func answer(
        to request: inout HTTPClientRequest, _ path: String, timeout: TimeAmount
    ) async throws -> HTTPAnswer {
        var problems: [String] = []
        for attempt in urls.indices {
            request.url = baseURL + path
            do {
                return try await HTTPAnswer.of(
                    request, timeout: timeout, maxBytes: Self.maxAnswerBytes, trusting: authorities)
            } catch {
                problems.append("the coordinator at \(baseURL) does not answer: \(HTTPAnswer.words(for: error))")
                guard attempt + 1 < urls.count, HTTPAnswer.wasNotReached(error) else { break }
                chosen.withLock { $0 = ($0 + 1) % urls.count }
            }
        }
        throw CommandFailure(
            .unreachable, "\(problems.joined(separator: "; ")); is it running, is the URL right?")
    }

    static func failure(
        _ problem: AdminProblem?, status: HTTPResponseStatus, url: String
    ) -> any Error {
        var message = problem?.message ?? "\(url) answered \(status.code) \(status.reasonPhrase)"
        if let findings = problem?.findings { message += "\n" + FindingLines.text(of: findings) }
        let kind: CommandFailure.Kind =
            switch status.code {
            case 401, 403: .notAllowed
            case 404, 410: .notFound
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
