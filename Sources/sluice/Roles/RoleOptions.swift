import ArgumentParser

/// What every role takes beside the shared settings.
struct RoleOptions: ParsableArguments {
    @Option(help: "This process's name in queues, heartbeats and logs (SLUICE_ID); made up if left out.")
    var id: String?

    @Option(help: "Where /health, /ready and /metrics listen (SLUICE_OPERATIONS_PORT); 0 takes a free port.")
    var operationsPort: Int?

    @Option(help: "text or json (SLUICE_LOG_FORMAT).")
    var logFormat: String?

    var overrides: [String: String?] {
        ["id": id, "operations.port": operationsPort.map(String.init), "log.format": logFormat]
    }
}

/// Where a role's own port is.
struct ListenOptions: ParsableArguments {
    @Option(help: "The address to listen at.") var host: String?
    @Option(help: "The port to listen at; 0 takes a free one.") var port: Int?

    func overrides(_ role: String) -> [String: String?] {
        ["\(role).host": host, "\(role).port": port.map(String.init)]
    }
}
