internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import SyncModel

/// The transport used unless the app brings its own: AsyncHTTPClient on the shared event loops.
final class HTTPClientTransport: NetworkTransport {
    private let client: HTTPClient
    private let isOwn: Bool

    /// - Parameter authorities: a PEM file of authorities that are trusted beside the system's.
    init(trusting authorities: String?) {
        isOwn = authorities != nil
        guard let authorities else {
            client = Self.shared
            return
        }
        var configuration = Self.configuration
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.file(authorities)]
        configuration.tlsConfiguration = tls
        client = HTTPClient(configuration: configuration)
    }

    /// A server that cannot be reached is an error at once, not when the time for the request is over: the person who logs in is told,
    /// and the connection that asks for a token goes by its own back-off.
    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// The client for all servers whose certificates the system's authorities vouch for.
    private static let shared = HTTPClient(configuration: configuration)

    deinit { if isOwn { client.shutdown { _ in } } }

    /// Answers are small; a profile with custom data may be some kilobytes.
    private static let maxAnswerBytes = 8 * 1024 * 1024

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = .init(rawValue: request.method)
        outgoing.headers = HTTPHeaders(request.headers.map { ($0.key, $0.value) })
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        let (sent, client) = (outgoing, client)
        let milliseconds = Int64(clamping: request.timeoutMS)
        return try await withDeadline(.milliseconds(milliseconds)) {
            let answer = try await client.execute(sent, timeout: .milliseconds(milliseconds))
            let body = try await answer.body.collect(upTo: Self.maxAnswerBytes)
            let headers = Dictionary(answer.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
            return NetworkResponse(
                status: Int(answer.status.code), headers: headers, body: Data(body.readableBytesView))
        }
    }
}
