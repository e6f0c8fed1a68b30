import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NIOSSL
import SyncModel

/// What a server has answered, with its whole body.
struct HTTPAnswer {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: Data

    /// Gives up at once on a server that is not there: nobody waits half a minute to be told so.
    static let client = makeClient(.singletonConfiguration)

    static func makeClient(_ configuration: HTTPClient.Configuration) -> HTTPClient {
        var configuration = configuration
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Asks a server.
    ///
    /// - Parameters:
    ///   - maxBytes: the most bytes that the answer's body may have.
    ///   - authorities: a PEM file of authorities that are trusted beside the system's; nil: the system's only.
    static func of(
        _ request: HTTPClientRequest, timeout: TimeAmount, maxBytes: Int, trusting authorities: String?
    ) async throws -> HTTPAnswer {
        guard let authorities else {
            return try await of(request, timeout: timeout, maxBytes: maxBytes, through: client)
        }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.file(authorities)]
        let client = makeClient(.init(tlsConfiguration: tls))
        do {
            let answer = try await of(request, timeout: timeout, maxBytes: maxBytes, through: client)
            try await client.shutdown()
            return answer
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private static func of(
        _ request: HTTPClientRequest, timeout: TimeAmount, maxBytes: Int, through client: HTTPClient
    ) async throws -> HTTPAnswer {
        try await withDeadline(.nanoseconds(timeout.nanoseconds)) {
            let response = try await client.execute(request, timeout: timeout)
            let body = try await response.body.collect(upTo: maxBytes)
            return HTTPAnswer(status: response.status, headers: response.headers, body: Data(buffer: body))
        }
    }
}

// MARK: Servers that do not answer

extension HTTPAnswer {
    /// Whether an error says that nobody was reached, so that nothing of a request can have been done. An address in figures is connected
    /// to directly, and then the system's own error comes.
    static func wasNotReached(_ error: any Error) -> Bool {
        if error is NIOConnectionError || (error as? HTTPClientError) == .connectTimeout { return true }
        return (error as? IOError).map { [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains($0.errnoCode) } ?? false
    }

    /// Why a server has not answered, for a person.
    static func words(for error: any Error) -> String {
        switch error {
        case let error as IOError where error.errnoCode == ECONNREFUSED: "the connection is refused"
        case let error as IOError where error.errnoCode == EHOSTUNREACH || error.errnoCode == ENETUNREACH:
            "there is no way to it"
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words(for: $0.error) } ?? "\(error.host) is not known"
        case let error as HTTPClientError where error == .connectTimeout: "it cannot be reached in time"
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout: "it takes too long"
        default: "\(error)"
        }
    }
}

extension String {
    /// An origin without the slash that people write after it.
    var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
