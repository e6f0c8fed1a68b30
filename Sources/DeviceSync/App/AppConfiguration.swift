internal import Foundation

/// Timers of the sync client, in milliseconds.
public final class SyncTimeoutOptions: Sendable {
    /// The time after which a connection attempt is given up, from name resolution to the upgrade. 120,000 unless given, at least 1,000.
    public let connectTimeout: UInt
    /// How long a connection without sessions stays open. 30,000 unless given.
    public let connectionLingerTime: UInt
    /// Time between PINGs. 60,000 unless given, at least 5,000.
    public let pingKeepalivePeriod: UInt
    /// The time without an answer to a PING after which the connection is dead and another is made. 120,000 unless given, at least 5,000.
    public let pongKeepaliveTimeout: UInt
    /// A reconnection within this time resumes uploading at once. 60,000 unless given, at least 1,000.
    public let fastReconnectLimit: UInt

    /// Timers; what is not given keeps its default.
    public init(
        connectTimeout: UInt? = nil, connectionLingerTime: UInt? = nil, pingKeepalivePeriod: UInt? = nil,
        pongKeepaliveTimeout: UInt? = nil, fastReconnectLimit: UInt? = nil
    ) {
        self.connectTimeout = max(1000, connectTimeout ?? 120_000)
        self.connectionLingerTime = connectionLingerTime ?? 30_000
        self.pingKeepalivePeriod = max(5000, pingKeepalivePeriod ?? 60_000)
        self.pongKeepaliveTimeout = max(5000, pongKeepaliveTimeout ?? 120_000)
        self.fastReconnectLimit = max(1000, fastReconnectLimit ?? 60_000)
    }
}

/// How an `App` reaches its server. Copied when the `App` is made.
public final class AppConfiguration: Sendable {
    /// The origin of the server, `https://host:port`, without a path. A slash at its end is dropped.
    public let baseURL: String
    /// The transport of HTTP calls; nil for the built-in client.
    public let transport: (any NetworkTransport)?
    /// How long an HTTP call may take, in milliseconds: 60,000 unless given. One that takes longer throws an `AppError`; where there is no
    /// connection to be had, it throws at once.
    public let defaultRequestTimeoutMS: UInt
    /// Whether all realms of one user share one connection: true unless given. If not, each realm has its own.
    public let enableSessionMultiplexing: Bool
    /// Timers of the sync client.
    public let syncTimeouts: SyncTimeoutOptions?
    /// A PEM file of authorities that are trusted beside the system's: for a server whose certificate is of your own making.
    /// Counts for the built-in HTTP client and for syncing.
    public let authoritiesFile: String?
    /// The server over which HTTP calls and syncing go; nil for the one that the environment names (`https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`), if any.
    /// (Not upstream.)
    public let proxy: ProxyServer?

    /// A configuration; what is not given keeps its default.
    public init(
        baseURL: String? = nil, transport: (any NetworkTransport)? = nil, defaultRequestTimeoutMS: UInt? = nil,
        enableSessionMultiplexing: Bool? = nil, syncTimeouts: SyncTimeoutOptions? = nil,
        authoritiesFile: String? = nil, proxy: ProxyServer? = nil
    ) {
        self.baseURL = Self.origin(baseURL)
        self.transport = transport
        self.defaultRequestTimeoutMS = defaultRequestTimeoutMS ?? 60_000
        self.enableSessionMultiplexing = enableSessionMultiplexing ?? true
        self.syncTimeouts = syncTimeouts
        self.authoritiesFile = authoritiesFile
        self.proxy = proxy
    }

    /// The proxy for an address; nil if there is none.
    func proxy(for url: String) -> ProxyServer? {
        proxy ?? .named(by: ProcessInfo.processInfo.environment, for: url)
    }

    /// - Parameter url: nil for the default server.
    static func origin(_ url: String?) -> String {
        var url = url ?? "https://services.cloud.mongodb.com"
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }
}
