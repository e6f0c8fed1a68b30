public import Dispatch
internal import Synchronization

/// How much the SDK logs; forwarded to the process's swift-log back end.
@frozen public enum SyncLogLevel: Int, Sendable {
    /// Nothing.
    case off
    /// What ends the process.
    case fatal
    /// Lost work.
    case error
    /// What an operator or a developer can act on.
    case warn
    /// Life cycle.
    case info
    /// More of it.
    case detail
    /// For developers.
    case debug
    /// Everything.
    case trace
    /// Everything.
    case all
}

/// Settings and errors of syncing, one per `App`.
public final class SyncManager: Sendable {
    private struct Contents {
        var errorHandler: ErrorReportingBlock?
        var timeoutOptions: SyncTimeoutOptions?
        var headers: [String: String]?
        var callbackQueue: DispatchQueue = .main
        var core: AppReference?
    }
    private let contents: Mutex<Contents>

    init(timeoutOptions: SyncTimeoutOptions?) {
        contents = Mutex(Contents(timeoutOptions: timeoutOptions))
    }

    func attach(_ core: AppCore) { contents.withLock { $0.core = AppReference(core) } }

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
            let core = contents.withLock { contents -> AppCore? in
                contents.headers = newValue
                return contents.core?.core
            }
            core?.http.setExtraHeaders(newValue ?? [:])
            core?.sync.reconnectForNewHeaders()
        }
    }

    /// Where callbacks without a queue of their own run; the main queue unless set. (Not upstream.)
    public var callbackQueue: DispatchQueue {
        get { contents.withLock { $0.callbackQueue } }
        set { contents.withLock { $0.callbackQueue = newValue } }
    }

    /// Blocks until no session has work left to end; for tests, never on the main thread of an app.
    public func waitForSessionTermination() {
        contents.withLock { $0.core?.core }?.sync.waitForTermination()
    }
}
