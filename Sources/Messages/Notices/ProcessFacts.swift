/// The facts that a process tells operators of itself; part of its heartbeats, whatever its role.
package struct ProcessFacts: Codable, Sendable, Equatable {
    package var version: String
    /// The name of its machine.
    package var host: String
    /// When it started, in milliseconds of Unix time.
    package var startedAt: UInt64
    /// Where it answers `/health`, `/ready` and `/metrics`: `http://host:port`; nil while it does not listen there.
    package var operations: String?
    /// Where it serves clients, or the admin API; nil of a worker.
    package var address: String?
    /// The obstacles that keep the role from being ready, each with its component; nil if it is ready.
    package var notReady: [String]?

    package init(
        version: String, host: String, startedAt: UInt64, operations: String? = nil, address: String? = nil,
        notReady: [String]? = nil
    ) {
        self.version = version
        self.host = host
        self.startedAt = startedAt
        self.operations = operations
        self.address = address
        self.notReady = notReady
    }
}

/// A coordinator's heartbeat. Published as `GatewayFigures` are.
package struct CoordinatorFigures: CodableMessage, Equatable {
    package static let type = "coordinator-figures"
    package var coordinator: String
    /// Milliseconds of Unix time.
    package var at: UInt64
    /// Whether it is the one that acts; the others stand by.
    package var isActive: Bool
    package var process: ProcessFacts?
    /// False in the last one of a coordinator that is shutting down.
    package var isStaying: Bool

    package init(coordinator: String, at: UInt64, isActive: Bool, process: ProcessFacts?, isStaying: Bool) {
        self.coordinator = coordinator
        self.at = at
        self.isActive = isActive
        self.process = process
        self.isStaying = isStaying
    }
}
