internal import Logging

/// Logs what a part of the SDK says as `Logger.shared` wants it.
struct SharedLogHandler: LogHandler {
    var metadata: Logging.Logger.Metadata = [:]
    var metadataProvider: Logging.Logger.MetadataProvider?
    private let category: LogCategory
    private var backEnd: any LogHandler

    private init(_ category: LogCategory, backEnd: any LogHandler) {
        self.category = category
        self.backEnd = backEnd
    }

    static func logger(_ category: LogCategory) -> Logging.Logger {
        let backEnd = Logging.Logger(label: "DeviceSync.\(category)").handler
        return Logging.Logger(label: "DeviceSync.\(category)") { _ in SharedLogHandler(category, backEnd: backEnd) }
    }

    subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    var logLevel: Logging.Logger.Level {
        get {
            switch Logger.shared.chosenLevel(of: category) {
            case nil: backEnd.logLevel
            case .all, .trace: .trace
            case .debug: .debug
            case .detail, .info: .info
            case .warn: .warning
            case .error: .error
            // Nothing of the SDK ends the process with a message; `log` leaves out what `.off` does.
            case .fatal, .off: .critical
            }
        }
        set { backEnd.logLevel = newValue }
    }

    func log(event: LogEvent) {
        let shared = Logger.shared
        if shared.chosenLevel(of: category) == .off { return }
        var event = event
        event.metadata = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        guard let function = shared.function else { return backEnd.log(event: event) }
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        function(Self.level(event.level), "\(category): \(event.message)\(details)")
    }

    private static func level(_ level: Logging.Logger.Level) -> LogLevel {
        switch level {
        case .trace: .trace
        case .debug: .debug
        case .info, .notice: .info
        case .warning: .warn
        case .error: .error
        case .critical: .fatal
        }
    }
}
