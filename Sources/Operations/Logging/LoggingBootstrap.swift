package import Logging

/// Sets up logging of a process: lines to stderr. To be called once, before any logger is made.
package enum LoggingBootstrap {
    package static func bootstrap(format: LogFormat, level: Logger.Level) {
        let throttle = LogThrottle()
        LoggingSystem.bootstrap { label in
            LineLogHandler(label: label, format: format, level: level, throttle: throttle)
        }
    }
}
