import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// What a server has answered, with its whole body.
struct HTTPAnswer {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: Data

    /// Gives up at once on a server that is not there: nobody waits half a minute to be told so.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Asks a server.
    ///
    /// - Parameter maxBytes: the most bytes that the answer's body may have.
    static func of(_ request: HTTPClientRequest, timeout: TimeAmount, maxBytes: Int) async throws -> HTTPAnswer {
        let response = try await client.execute(request, timeout: timeout)
        let body = try await response.body.collect(upTo: maxBytes)
        return HTTPAnswer(status: response.status, headers: response.headers, body: Data(buffer: body))
    }
}

extension String {
    /// An origin without the slash that people write after it.
    var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
