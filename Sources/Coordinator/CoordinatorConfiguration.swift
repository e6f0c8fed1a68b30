package import AMQP
import Inspection
package import Messages
package import Operations
package import Storage
package import SyncModel

/// The configuration of a coordinator.
package struct CoordinatorConfiguration: Sendable {
    /// Names the process in logs and in the broker's list of connections.
    package var id: String
    /// Where the admin API listens. Port 0 takes a free one.
    package var host: String
    package var port: Int
    /// The identity that the admin API proves; nil: it speaks plain HTTP.
    package var tls: ServerIdentity?
    /// The token that admin requests must bear. Empty: one is made up, see `adminTokenFile`.
    package var adminToken: Secret
    /// The file (mode 0600) that holds the made-up token; only with an empty token and a loopback host.
    package var adminTokenFile: String?
    package var amqp: AMQPConfiguration
    package var topology: Topology
    package var slices: SliceCount
    /// How often the active coordinator sends ticks to the slices.
    package var tickInterval: Duration
    /// How old a signing key may become before a new one is made; nil: as old as it likes.
    package var keyRotation: Duration?
    /// How long an anonymous user stays that is not seen; nil: for ever.
    package var anonymousLifetime: Duration?
    /// How long a campaign may stay open; nil: as long as it likes.
    package var campaignLifetime: Duration?
    /// Reports in hand; as many are applied in one transaction.
    package var prefetch: Int
    /// How many dead letters are kept; see `DeadLetterQuota`.
    package var maxDeadLetters: Int
    /// The bytes of changes that the broker keeps for one follower.
    package var followerBytes = ChangeTap.maxBytes
    /// The time after which every process goes by an app's new settings, told of them or not: what gateways and workers remember is no older.
    package var settingsSpread = Duration.milliseconds(5_500)
    /// How long a client may read nothing of an answer for which a store's snapshot is held.
    package var stalledReader = Duration.seconds(60)
    /// The values of quotas that the settings have, for apps without values of their own.
    package var quotas = QuotaValues()
    /// The slices' stores, from which terminations are planned; nil: plans cannot be made.
    package var stores: (any StoreInspector)?
    /// Where the dashboard's links to Grafana lead; nil: it has none.
    package var grafanaURL: String?
    /// The address that links to the dashboard begin with; nil: the one at which the API was asked.
    package var publicURL: String?
    /// Says whether the broker is the cluster's; nil for a coordinator that is used alone.
    package var gate: BrokerGate?
    /// Tells what the process is; nil for a coordinator that is used alone.
    package var process: (@Sendable () -> ProcessFacts)?

    package init(
        id: String, host: String = "127.0.0.1", port: Int = 9090, adminToken: Secret, adminTokenFile: String? = nil,
        amqp: AMQPConfiguration, topology: Topology = Topology(), slices: SliceCount,
        tickInterval: Duration = .seconds(5), keyRotation: Duration? = nil, prefetch: Int = 200,
        maxDeadLetters: Int = 10_000, stores: (any StoreInspector)? = nil
    ) {
        self.id = id
        self.host = host
        self.port = port
        self.adminToken = adminToken
        self.adminTokenFile = adminTokenFile
        self.amqp = amqp
        self.topology = topology
        self.slices = slices
        self.tickInterval = tickInterval
        self.keyRotation = keyRotation
        self.prefetch = prefetch
        self.maxDeadLetters = maxDeadLetters
        self.stores = stores
    }
}
