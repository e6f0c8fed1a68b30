public import Dispatch
internal import Synchronization

/// How much the SDK logs.
public typealias SyncLogLevel = LogLevel

/// Settings and errors of syncing, one per `App`.
public final class SyncManager: Sendable {
    private struct Contents {
        var errorHandler: ErrorReportingBlock?
        var timeoutOptions: SyncTimeoutOptions?
        var headers: [String: String]?
        var authorizationHeaderName: String?
        var userAgent = SDK.programName
        var callbackQueue: DispatchQueue = .main
        var core: AppReference?
    }
    private let contents: Mutex<Contents>

    init(timeoutOptions: SyncTimeoutOptions?) {
        contents = Mutex(Contents(timeoutOptions: timeoutOptions))
    }

    func attach(_ core: AppCore) { contents.withLock { $0.core = AppReference(core) } }

    private var core: AppCore? { contents.withLock { $0.core?.core } }

    /// Receives errors that stop a session, and what the server warns of. Read when an error is delivered, so it may
    /// be set after opening; without it errors are logged.
    public var errorHandler: ErrorReportingBlock? {
        get { contents.withLock { $0.errorHandler } }
        set { contents.withLock { $0.errorHandler = newValue } }
    }

    /// Timers; take effect before the first session.
    public var timeoutOptions: SyncTimeoutOptions? {
        get { contents.withLock { $0.timeoutOptions } }
        set { contents.withLock { $0.timeoutOptions = newValue } }
    }

    var timeouts: SyncTimeoutOptions { timeoutOptions ?? SyncTimeoutOptions() }

    /// Sent with every HTTP call and WebSocket handshake. A change reconnects every session.
    public var customRequestHeaders: [String: String]? {
        get { contents.withLock { $0.headers } }
        set {
            contents.withLock { $0.headers = newValue }
            core?.sync.reconnectForNewHeaders()
        }
    }

    /// The header that carries a user's token in HTTP calls; `Authorization` unless set. WebSocket handshakes carry it in their address.
    public var authorizationHeaderName: String? {
        get { contents.withLock { $0.authorizationHeaderName } }
        set { contents.withLock { $0.authorizationHeaderName = newValue } }
    }

    /// The name of the program, which the `User-Agent` of HTTP calls and WebSocket handshakes ends with: the process's unless set. Connections that are open
    /// keep theirs. An entry of `customRequestHeaders` takes the place of all of it.
    public var userAgent: String {
        get { contents.withLock { $0.userAgent } }
        set { contents.withLock { $0.userAgent = newValue } }
    }

    /// Up to which level the process logs: that of `Logger.shared`.
    public var logLevel: SyncLogLevel {
        get { Logger.shared.level }
        set { Logger.shared.level = newValue }
    }

    /// Gets the process's log messages: sets `Logger.shared`.
    @available(*, deprecated, message: "Set Logger.shared")
    public var logger: (@Sendable (SyncLogLevel, String) -> Void)? {
        get { Logger.shared.function }
        set { if let newValue { Logger.shared = Logger(level: Logger.shared.level, logFunction: newValue) } }
    }

    /// Where callbacks without a queue of their own run; the main queue unless set. (Not upstream.)
    public var callbackQueue: DispatchQueue {
        get { contents.withLock { $0.callbackQueue } }
        set { contents.withLock { $0.callbackQueue = newValue } }
    }

    /// Blocks until no session has work left to end; for tests, never on the main thread of an app.
    public func waitForSessionTermination() { core?.sync.waitForTermination() }
}
