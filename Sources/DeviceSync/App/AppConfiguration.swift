internal import Foundation
internal import Synchronization

/// Timers of the sync client, in milliseconds. What is set has to be set before the first session.
public final class SyncTimeoutOptions: Sendable {
    private struct Timers {
        var connect: UInt
        var linger: UInt
        var ping: UInt
        var pong: UInt
        var fastReconnect: UInt
    }
    private let timers: Mutex<Timers>

    /// The time after which a connection attempt is given up, from name resolution to the upgrade. 120,000 unless given, at least 1,000.
    public var connectTimeout: UInt {
        get { timers.withLock { $0.connect } }
        set { timers.withLock { $0.connect = max(1000, newValue) } }
    }
    /// How long a connection without sessions stays open. 30,000 unless given.
    public var connectionLingerTime: UInt {
        get { timers.withLock { $0.linger } }
        set { timers.withLock { $0.linger = newValue } }
    }
    /// Time between PINGs. 60,000 unless given, at least 5,000.
    public var pingKeepalivePeriod: UInt {
        get { timers.withLock { $0.ping } }
        set { timers.withLock { $0.ping = max(5000, newValue) } }
    }
    /// The time without an answer to a PING after which the connection is dead and another is made. 120,000 unless given, at least 5,000.
    public var pongKeepaliveTimeout: UInt {
        get { timers.withLock { $0.pong } }
        set { timers.withLock { $0.pong = max(5000, newValue) } }
    }
    /// A reconnection within this time resumes uploading at once. 60,000 unless given, at least 1,000.
    public var fastReconnectLimit: UInt {
        get { timers.withLock { $0.fastReconnect } }
        set { timers.withLock { $0.fastReconnect = max(1000, newValue) } }
    }

    /// Timers; what is not given keeps its default.
    public init(
        connectTimeout: UInt? = nil, connectionLingerTime: UInt? = nil, pingKeepalivePeriod: UInt? = nil,
        pongKeepaliveTimeout: UInt? = nil, fastReconnectLimit: UInt? = nil
    ) {
        timers = Mutex(
            Timers(
                connect: max(1000, connectTimeout ?? 120_000), linger: connectionLingerTime ?? 30_000,
                ping: max(5000, pingKeepalivePeriod ?? 60_000), pong: max(5000, pongKeepaliveTimeout ?? 120_000),
                fastReconnect: max(1000, fastReconnectLimit ?? 60_000)))
    }
}

/// How an `App` reaches its server. Copied when the `App` is made: what is set after that is not heard of.
public final class AppConfiguration: Sendable {
    private struct Contents {
        var baseURL: String
        var transport: (any NetworkTransport)?
        var defaultRequestTimeoutMS: UInt
        var enableSessionMultiplexing: Bool
        var syncTimeouts: SyncTimeoutOptions?
        var localAppName: String?
        var localAppVersion: String?
    }
    private let contents: Mutex<Contents>

    /// The origin of the server, `https://host:port`, without a path. A slash at its end is dropped.
    public var baseURL: String {
        get { contents.withLock { $0.baseURL } }
        set { contents.withLock { $0.baseURL = Self.origin(newValue) } }
    }
    /// The transport of HTTP calls; nil for the built-in client.
    public var transport: (any NetworkTransport)? {
        get { contents.withLock { $0.transport } }
        set { contents.withLock { $0.transport = newValue } }
    }
    /// How long an HTTP call may take, in milliseconds: 60,000 unless given. One that takes longer throws an `AppError`; where there is no
    /// connection to be had, it throws at once.
    public var defaultRequestTimeoutMS: UInt {
        get { contents.withLock { $0.defaultRequestTimeoutMS } }
        set { contents.withLock { $0.defaultRequestTimeoutMS = newValue } }
    }
    /// Whether all realms of one user share one connection: true unless given. If not, each realm has its own.
    public var enableSessionMultiplexing: Bool {
        get { contents.withLock { $0.enableSessionMultiplexing } }
        set { contents.withLock { $0.enableSessionMultiplexing = newValue } }
    }
    /// Timers of the sync client.
    public var syncTimeouts: SyncTimeoutOptions? {
        get { contents.withLock { $0.syncTimeouts } }
        set { contents.withLock { $0.syncTimeouts = newValue } }
    }
    /// A name of the app that nobody reads; `SyncManager.userAgent` is read.
    public var localAppName: String? {
        get { contents.withLock { $0.localAppName } }
        set { contents.withLock { $0.localAppName = newValue } }
    }
    /// A version of the app that nobody reads; `SyncManager.userAgent` is read.
    public var localAppVersion: String? {
        get { contents.withLock { $0.localAppVersion } }
        set { contents.withLock { $0.localAppVersion = newValue } }
    }
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
        contents = Mutex(
            Contents(
                baseURL: Self.origin(baseURL), transport: transport,
                defaultRequestTimeoutMS: defaultRequestTimeoutMS ?? 60_000,
                enableSessionMultiplexing: enableSessionMultiplexing ?? true, syncTimeouts: syncTimeouts))
        self.authoritiesFile = authoritiesFile
        self.proxy = proxy
    }

    /// A configuration, with a name and a version that nobody reads.
    public convenience init(
        baseURL: String? = nil, transport: (any NetworkTransport)? = nil, localAppName: String?,
        localAppVersion: String?, defaultRequestTimeoutMS: UInt? = nil, enableSessionMultiplexing: Bool? = nil,
        syncTimeouts: SyncTimeoutOptions? = nil
    ) {
        self.init(
            baseURL: baseURL, transport: transport, defaultRequestTimeoutMS: defaultRequestTimeoutMS,
            enableSessionMultiplexing: enableSessionMultiplexing, syncTimeouts: syncTimeouts)
        self.localAppName = localAppName
        self.localAppVersion = localAppVersion
    }

    private init(copying other: AppConfiguration) {
        contents = Mutex(other.contents.withLock { $0 })
        (authoritiesFile, proxy) = (other.authoritiesFile, other.proxy)
    }

    /// The configuration as it is now.
    var copy: AppConfiguration { AppConfiguration(copying: self) }

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
