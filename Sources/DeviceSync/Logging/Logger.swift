internal import Synchronization

/// How much is logged, from nothing to everything.
@frozen public enum LogLevel: Int, Sendable, Comparable {
    /// Nothing.
    case off
    /// Messages of what ends the process.
    case fatal
    /// Lost work.
    case error
    /// Messages that an operator or a developer can act on.
    case warn
    /// Life cycle.
    case info
    /// More of it.
    case detail
    /// Details for developers.
    case debug
    /// Everything.
    case trace
    /// Everything.
    case all

    /// Whether fewer messages have the first level.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The part of the SDK that a message comes from.
@frozen public enum LogCategory: String, Sendable, CaseIterable {
    /// Users, accounts and files.
    case app
    /// Connections, sessions and client resets.
    case sync
    /// Messages of what the kernel says of the network.
    case network
}

/// Where the SDK's messages go, and how many there are: one for the process.
///
/// Without one the messages go to swift-log, whose back end says which levels there are until `Logger.shared.level` is set. Messages have no tokens, passwords or
/// contents of objects.
public final class Logger: Sendable {
    private struct Contents {
        var level: LogLevel?
        var levels: [LogCategory: LogLevel] = [:]
    }
    private let contents: Mutex<Contents>
    /// Nil for swift-log.
    let function: (@Sendable (LogLevel, String) -> Void)?

    private init(level: LogLevel?, function: (@Sendable (LogLevel, String) -> Void)?) {
        contents = Mutex(Contents(level: level))
        self.function = function
    }

    /// Messages up to a level, for a function. It is called on any thread, and must not wait for the SDK.
    public convenience init(level: LogLevel = .info, logFunction: @escaping @Sendable (LogLevel, String) -> Void) {
        self.init(level: level, function: logFunction)
    }

    private static let current = Mutex(Logger(level: nil, function: nil))

    /// The process's logger. Another one counts from the moment on that it is set.
    public static var shared: Logger {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Up to which level messages are logged; `.info` unless set. Setting it sets that of all categories.
    public var level: LogLevel {
        get { contents.withLock { $0.level ?? .info } }
        set { contents.withLock { $0 = Contents(level: newValue) } }
    }

    /// Up to which level messages of a category are logged. (Not upstream.)
    public subscript(_ category: LogCategory) -> LogLevel {
        get { chosenLevel(of: category) ?? .info }
        set { contents.withLock { $0.levels[category] = newValue } }
    }

    /// Nil if nobody has set it.
    func chosenLevel(of category: LogCategory) -> LogLevel? {
        contents.withLock { $0.levels[category] ?? $0.level }
    }
}
