/// How a gateway stands and what it has done since it started: for the coordinators' pictures of the cluster. Published with the
/// routing key `figures` to the exchange of the reports, where every coordinator hears it and nothing keeps it.
package struct GatewayFigures: CodableMessage, Equatable {
    package static let type = "gateway-figures"
    package var gateway: String
    /// Milliseconds of Unix time.
    package var at: UInt64
    package var connections: Int
    package var sessions: Int
    /// Changesets that clients have uploaded through the gateway.
    package var changesets: UInt64
    /// Error messages that its clients were sent.
    package var errors: UInt64
    /// Bytes of changesets that clients have uploaded and no owner has acknowledged, by app, of those apps that have the most; nil
    /// if there are none.
    package var unacknowledged: [String: UInt64]?
    /// The activity of each app, of the `mostApps` with the most sessions: of fewer it is all that the gateway has seen. Nil from a
    /// gateway of an earlier version.
    package var apps: [String: AppFigures]?
    /// The facts of the gateway's process; nil from a gateway of an earlier version.
    package var process: ProcessFacts?
    /// False in the last one of a gateway that is shutting down.
    package var isStaying: Bool

    package init(
        gateway: String, at: UInt64, connections: Int, sessions: Int, changesets: UInt64, errors: UInt64,
        unacknowledged: [String: UInt64]? = nil, apps: [String: AppFigures]? = nil, process: ProcessFacts? = nil,
        isStaying: Bool
    ) {
        self.gateway = gateway
        self.at = at
        self.connections = connections
        self.sessions = sessions
        self.changesets = changesets
        self.errors = errors
        self.unacknowledged = unacknowledged
        self.apps = apps
        self.process = process
        self.isStaying = isStaying
    }

    /// Apps that a gateway tells of.
    package static let mostApps = 100
}

/// The sessions of one app at a gateway, and what they have sent and got since the gateway started.
package struct AppFigures: Codable, Sendable, Equatable {
    package var sessions: Int
    /// Changesets that clients have uploaded.
    package var changesets: UInt64
    /// Bytes of these, and bytes to clients.
    package var uploadBytes: UInt64
    package var downloadBytes: UInt64

    package init(sessions: Int = 0, changesets: UInt64 = 0, uploadBytes: UInt64 = 0, downloadBytes: UInt64 = 0) {
        self.sessions = sessions
        self.changesets = changesets
        self.uploadBytes = uploadBytes
        self.downloadBytes = downloadBytes
    }
}

/// The work that a worker has done since it started; part of its heartbeats.
package struct WorkerTotals: Codable, Sendable, Equatable {
    /// Changesets integrated into histories.
    package var changesets: UInt64
    /// Transactions of slices' stores.
    package var commits: UInt64
    /// Sessions and uploads refused, and messages set aside as dead letters.
    package var errors: UInt64

    package init(changesets: UInt64 = 0, commits: UInt64 = 0, errors: UInt64 = 0) {
        self.changesets = changesets
        self.commits = commits
        self.errors = errors
    }
}

/// Somebody has logged out of the dashboard at one coordinator: the others are to refuse that session, too. Published as
/// `GatewayFigures` are.
package struct DashboardLogout: CodableMessage, Equatable {
    package static let type = "dashboard-logout"
    /// The session's number: 32 hexadecimal digits. Nobody can log in with it.
    package var session: String
    /// When the session would have ended, in milliseconds of Unix time.
    package var expiresAt: UInt64

    package init(session: String, expiresAt: UInt64) {
        self.session = session
        self.expiresAt = expiresAt
    }
}
