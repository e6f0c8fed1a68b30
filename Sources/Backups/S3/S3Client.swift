import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Asks an S3-compatible store, and asks again where it is only busy. The bucket is part of the path, as every such store takes it.
struct S3Client: Sendable {
    struct Answer {
        var status: UInt
        var headers: HTTPHeaders
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The longest answer that is read as a whole.
    static let maxAnswerBytes = 4 << 20
    private static let attempts = 6

    let address: S3Address
    /// Seconds of Unix time.
    let now: @Sendable () -> UInt64
    /// The pause before a second attempt; the following ones are twice as long each.
    let pause: Duration
    private let http: HTTPClient
    private static let timeout = TimeAmount.minutes(10)

    init(_ address: S3Address, http: HTTPClient, pause: Duration = .seconds(1), now: @escaping @Sendable () -> UInt64) {
        self.address = address
        self.http = http
        self.pause = pause
        self.now = now
    }

    /// - Throws: `BackupError` for every answer but those of success and `allowing`.
    func ask(
        _ method: HTTPMethod, _ key: String, query: [(name: String, value: String)] = [], body: [UInt8] = [],
        allowing: Set<UInt> = []
    ) async throws -> Answer {
        try await repeating {
            let response = try await send(method, key, query, body)
            let bytes = try await response.body.collect(upTo: Self.maxAnswerBytes)
            return try accepted(
                Answer(
                    status: response.status.code, headers: response.headers, body: Array(bytes.readableBytesView)),
                to: "\(method.rawValue) \(key.isEmpty ? "the bucket" : key)", allowing)
        }
    }

    /// Reads an object piece by piece.
    ///
    /// - Parameter begin: called before the first piece of each attempt.
    func read(
        _ key: String, begin: () async throws -> Void, _ take: ([UInt8]) async throws -> Void
    ) async throws {
        _ = try await repeating {
            try await begin()
            let response = try await send(.GET, key, [], [])
            guard response.status.code == 200 else {
                let bytes = try await response.body.collect(upTo: Self.maxAnswerBytes)
                return try accepted(
                    Answer(
                        status: response.status.code, headers: response.headers, body: Array(bytes.readableBytesView)),
                    to: "GET \(key)", [])
            }
            for try await piece in response.body { try await take(Array(piece.readableBytesView)) }
            return Answer(status: 200, headers: response.headers, body: [])
        }
    }

    private func send(
        _ method: HTTPMethod, _ key: String, _ query: [(name: String, value: String)], _ body: [UInt8]
    ) async throws -> HTTPClientResponse {
        let path = address.path(of: key)
        let signature = SignatureV4(account: address.account, region: address.region)
        let signed = signature.headers(
            of: SignatureV4.Request(
                method: method.rawValue, host: address.host, path: path, query: query,
                bodyDigest: SignatureV4.digest(of: body)),
            at: now())
        var request = HTTPClientRequest(
            url: address.endpoint + path + (query.isEmpty ? "" : "?" + SignatureV4.query(query)))
        request.method = method
        for (name, value) in signed { request.headers.replaceOrAdd(name: name, value: value) }
        if method == .PUT || method == .POST { request.body = .bytes(ByteBuffer(bytes: body)) }
        return try await http.execute(request, timeout: Self.timeout)
    }

    /// Whether a later attempt may have another answer.
    private struct Busy: Error { var reason: String }

    private func accepted(_ answer: Answer, to what: String, _ allowing: Set<UInt>) throws -> Answer {
        if (200..<300).contains(answer.status) || allowing.contains(answer.status) { return answer }
        let code = S3Answer.first("Code", in: answer.text) ?? ""
        let message = S3Answer.first("Message", in: answer.text)?.prefix(200) ?? ""
        let reason = "\(address.words): \(what): \(answer.status) \(code.prefix(60)) \(message)"
        switch answer.status {
        case 429, 500...599: throw Busy(reason: reason)
        case 401, 403: throw BackupError(.notAllowed, reason)
        case 404: throw BackupError(.notFound, reason)
        default: throw BackupError(.unavailable, reason)
        }
    }

    private func repeating(_ body: () async throws -> Answer) async throws -> Answer {
        var wait = pause
        for attempt in 1... {
            let reason: String
            do {
                return try await body()
            } catch let error as BackupError {
                throw error
            } catch let error as CancellationError {
                throw error
            } catch let error as Busy {
                reason = error.reason
            } catch {
                // Errors of the connection: nothing of the request's head is in them.
                reason = "\(address.words) cannot be reached: \(error)"
            }
            guard attempt < Self.attempts else { throw BackupError(.unavailable, reason) }
            try await Task.sleep(for: wait)
            wait *= 2
        }
        throw BackupError(.unavailable, "\(address.words) cannot be reached")
    }
}

/// Reads the little XML that such a store answers.
enum S3Answer {
    /// The contents of all elements of a name, which have no elements in them.
    static func all(_ name: String, in text: String) -> [String] {
        var found: [String] = []
        var rest = Substring(text)
        while let start = rest.firstRange(of: "<\(name)>"),
            let end = rest[start.upperBound...].firstRange(of: "</\(name)>")
        {
            found.append(decoded(String(rest[start.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
        return found
    }

    static func first(_ name: String, in text: String) -> String? { all(name, in: text).first }

    private static func decoded(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#34;", "\""), ("&amp;", "&")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    static func encoded(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
