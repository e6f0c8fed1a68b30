package import Logging
import ServiceLifecycle

/// Tells the service manager that started the process (systemd, `Type=notify`) when the process is ready, what it waits for
/// until then and whenever it is not, that it still runs, and that it ends. The first of a group's services, so that the
/// process is still watched while the others shut down.
package struct ServiceManagerReports: Service {
    private let socket: NotifySocket
    private let readiness: Readiness
    /// How often the readiness is looked at.
    private let interval: Duration
    /// How often the service manager must hear of the process, or it kills the process; nil where it does not watch.
    private let watchdog: Duration?

    /// Nil where no service manager asked for reports.
    ///
    /// - Parameter environment: with `NOTIFY_SOCKET`, and `WATCHDOG_USEC` and `WATCHDOG_PID` where the process is watched.
    package init?(
        environment: [String: String], processIdentifier: Int32, readiness: Readiness,
        interval: Duration = .milliseconds(500), logger: Logger
    ) {
        guard let name = environment["NOTIFY_SOCKET"] else { return nil }
        guard let socket = NotifySocket(name) else {
            logger.warning(
                "NOTIFY_SOCKET names no socket, so nobody hears when this process is ready",
                metadata: ["expected": "an absolute path, or @ and an abstract name", "found": "\(name)"])
            return nil
        }
        self.socket = socket
        self.readiness = readiness
        let isWatched = environment["WATCHDOG_PID"].map { $0 == "\(processIdentifier)" } ?? true
        watchdog = isWatched ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds($0) } : nil
        // Half of the time that the service manager waits, as it recommends.
        self.interval = watchdog.map { min($0 / 2, interval) } ?? interval
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var wasReady = false
            var said = ""
            while !Task.isCancelled {
                let components = readiness.components
                let missing = components.filter { !$0.ready }
                var lines: [String] = watchdog == nil ? [] : ["WATCHDOG=1"]
                if !wasReady, readiness.isReady {
                    wasReady = true
                    lines.append("READY=1")
                }
                let status = Self.status(missing, of: components.count)
                if status != said {
                    said = status
                    lines.append("STATUS=\(status)")
                }
                if !lines.isEmpty { socket.send(lines) }
                try? await Task.sleep(for: interval)
            }
        }
        socket.send(["STOPPING=1", "STATUS=ending"])
    }

    /// What `systemctl status` shows, in one line.
    static func status(_ missing: [Readiness.Component], of count: Int) -> String {
        if count == 0 { return "starting" }
        guard let first = missing.first else { return "ready" }
        let others = missing.count > 1 ? " (and \(missing.count - 1) more)" : ""
        let line = "not ready: \(first.name): \(first.reason)\(others)"
        return String(line.prefix(200).map { $0.isNewline ? " " : $0 })
    }
}
