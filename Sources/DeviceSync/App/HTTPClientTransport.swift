internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import SyncModel
internal import Synchronization

/// The transport used unless the app brings its own: AsyncHTTPClient on the shared event loops.
final class HTTPClientTransport: NetworkTransport {
    private let authorities: String?
    private let proxy: @Sendable (_ url: String) -> ProxyServer?
    /// The clients of this transport's own, by the proxy that they go over.
    private let clients = Mutex<[ProxyServer?: HTTPClient]>([:])

    /// - Parameters:
    ///   - authorities: a PEM file of authorities that are trusted beside the system's.
    ///   - proxy: the proxy for an address.
    init(trusting authorities: String?, over proxy: @escaping @Sendable (_ url: String) -> ProxyServer?) {
        self.authorities = authorities
        self.proxy = proxy
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

    deinit { for client in clients.withLock({ $0.values }) { client.shutdown { _ in } } }

    private func client(for url: String) -> HTTPClient {
        let proxy = proxy(url)
        if proxy == nil, authorities == nil { return Self.shared }
        return clients.withLock { clients in
            if let client = clients[proxy] { return client }
            var configuration = Self.configuration
            if let authorities {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.additionalTrustRoots = [.file(authorities)]
                configuration.tlsConfiguration = tls
            }
            configuration.proxy = proxy.map { .init($0) }
            let client = HTTPClient(configuration: configuration)
            clients[proxy] = client
            return client
        }
    }

    /// Answers are small; a profile with custom data may be some kilobytes.
    private static let maxAnswerBytes = 8 * 1024 * 1024

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = .init(rawValue: request.method)
        outgoing.headers = HTTPHeaders(request.headers.map { ($0.key, $0.value) })
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        let (sent, client) = (outgoing, client(for: request.url))
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

extension HTTPClient.Configuration.Proxy {
    fileprivate init(_ proxy: ProxyServer) {
        switch proxy.kind {
        case .http:
            self = .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.user.map { .basic(username: $0, password: proxy.password ?? "") })
        case .socks: self = .socksServer(host: proxy.host, port: proxy.port)
        }
    }
}
