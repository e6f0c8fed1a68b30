package import AMQP
package import Messages
package import Operations
package import Query
import Storage
package import SyncModel

/// How one gateway is set up.
package struct GatewayConfiguration: Sendable {
    /// Unique among the cluster's gateways; names its queue.
    package var id: String
    package var host: String
    /// 0 takes any free port.
    package var port: Int
    /// The origin that clients reach this gateway by, such as `https://sync.example.net`; without a trailing slash.
    /// Nil means `http://<host>:<port>`, or `https` with TLS. Never taken from a request's `Host` header.
    package var publicURL: String?
    package var amqp: AMQPConfiguration
    package var topology: Topology
    package var slices: SliceCount
    /// Says whether the broker is the cluster's; nil for a gateway that is used alone.
    package var gate: BrokerGate?
    package var limits = GatewayLimits()
    package var timings = GatewayTimings()
    package var tokens = TokenPolicy()
    package var passwords = PasswordParameters()
    package var proxies = ProxySettings()
    /// What the gateway proves to be who it is with; nil: it speaks plain HTTP.
    package var tls: ServerIdentity?
    /// What hands mails over to be sent; nil: no app can have addresses confirmed or forgotten passwords replaced.
    package var mail: (any MailHook)?
    /// Where answers and notices wait that would take too much memory.
    package var spoolFolder = "/var/tmp"
    /// Tells what the process is; nil for a gateway that is used alone.
    package var process: (@Sendable () -> ProcessFacts)?

    package init(
        id: String, host: String = "127.0.0.1", port: Int = 9090, publicURL: String? = nil, amqp: AMQPConfiguration,
        topology: Topology = Topology(), slices: SliceCount
    ) {
        self.id = id
        self.host = host
        self.port = port
        self.publicURL = publicURL
        self.amqp = amqp
        self.topology = topology
        self.slices = slices
    }
}

/// The proxies before the gateway that may say whom they speak for.
package struct ProxySettings: Sendable {
    /// The addresses of the proxies whose word counts; nobody else's does.
    package var trusted = AddressRanges()
    /// Whether the proxies begin each socket with a header of the PROXY protocol, version 1 or 2.
    package var announceClients = false

    package init() {}
}

/// Everything that is bounded, and how far.
package struct GatewayLimits: Sendable {
    /// Sockets of clients; further ones wait in the listener's backlog.
    package var maxConnections = 20_000
    /// Sockets of one app; further ones are told to come back later.
    package var maxAppConnections = 15_000
    /// What users and apps may do, where the app has no value of its own.
    package var quotas = QuotaValues()
    /// The bounds of finding the sessions that commits of flexible realms concern.
    package var evaluation = EvaluationLimits()
    /// Uploads of one session that no worker has acknowledged yet, in bytes; beyond, its socket is not read.
    package var sessionUnacknowledgedBytes = 4 << 20
    /// The same for the whole gateway.
    package var gatewayUnacknowledgedBytes = 128 << 20
    /// Messages waiting for one socket to drain, in bytes; beyond, live sessions fall back to asking for pages.
    package var connectionOutboundBytes = 4 << 20
    /// Requests that wait for an owner's answer, over all sessions.
    package var outstandingRequests = 20_000
    /// The newest versions of partitions, kept for sessions that fall behind, in bytes; of one partition a quarter.
    package var recentBytes = 32 << 20
    /// Entries of one page of history, in bytes.
    package var pageBytes = 256 << 10
    /// The body of an account request.
    package var accountBodyBytes = 64 << 10
    /// Deliveries that the broker may send ahead, those that are handed out at once, and the bytes of either that stay in memory;
    /// what comes beyond waits in a file.
    package var prefetch = 512
    package var batch = 256
    package var batchBytes = 8 << 20
    package var heldBytes = 32 << 20
    /// Password hashes computed at the same time, and those with what waits for that.
    package var passwordThreads = 2
    package var passwordQueue = 64
    package var failedLogins = FailedLogins()
    package var registerRate = Rate(burst: 60, perMinute: 60)
    package var anonymousRate = Rate(burst: 500, perMinute: 1_200)
    package var refreshRate = Rate(burst: 256, perMinute: 240)
    package var outcomeRate = Rate(burst: 120, perMinute: 120)

    /// Logins by password that may fail at once, and how many a minute refill.
    package struct FailedLogins: Sendable {
        /// The failed logins from one address, whatever the account.
        package var address = Rate(burst: 60, perMinute: 30)
        /// The failed logins to one account from addresses that it was not used from.
        package var account = Rate(burst: 10, perMinute: 2)
        /// The failed logins to one account from one address that it was used from.
        package var knownAddress = Rate(burst: 20, perMinute: 6)
        /// The failed logins to one app; addresses that an account was used from go on.
        package var app = Rate(burst: 1_000, perMinute: 600)

        package init() {}
    }

    /// Mails to one mailbox, asked for from one address, and of one app.
    package var mailboxRate = Rate(burst: 5, perMinute: 0.1)
    package var mailAddressRate = Rate(burst: 20, perMinute: 1)
    package var mailAppRate = Rate(burst: 1_000, perMinute: 100)

    package struct Rate: Sendable, Hashable {
        package var burst: Int
        package var perMinute: Double

        package init(burst: Int, perMinute: Double) {
            self.burst = burst
            self.perMinute = perMinute
        }
    }

    package init() {}
}

/// How long things may take.
package struct GatewayTimings: Sendable {
    /// How long an owner may take to answer a request.
    package var requestDeadline: Duration = .seconds(10)
    /// A socket that sends no request is closed after this.
    package var firstRequest: Duration = .seconds(30)
    package var idleHTTP: Duration = .seconds(75)
    /// A client pings at least every 10 minutes; one that is silent for longer than this is gone.
    package var silentSocket: Duration = .seconds(30 * 60)
    /// How long a connection is served after its token has expired.
    package var tokenGrace: Duration = .seconds(5 * 60)
    /// How long the answer to a failed request waits where an address or an app has had many.
    package var failureDelay: Duration = .seconds(1)
    /// How often a live connection's user and login are looked up again.
    package var recheck: Duration = .seconds(120)
    /// How long an upload that only reports progress may wait for one with changesets, which makes it superfluous.
    package var progressDelay: Duration = .seconds(2)
    package var housekeeping: Duration = .seconds(1)
    /// How often the signing keys are read again although no notice came.
    package var keyReading: Duration = .seconds(60)
    /// How long an app's settings may be remembered when no notice came.
    package var appCache: Duration = .seconds(5)
    /// How often the settings of the apps with sessions here are read again, in case a notice was lost.
    package var settingsWatch: Duration = .seconds(10)
    /// How long sessions begin by what is remembered of an app while the store cannot be read.
    package var withoutStore: Duration = .seconds(5 * 60)
    /// How long a closing socket may take to drain.
    package var closing: Duration = .seconds(2)
    /// How long a failed client waits for the reset that the owner decides.
    package var resetDecision: Duration = .seconds(15)

    package init() {}
}

/// How long tokens live.
package struct TokenPolicy: Sendable {
    package var accessLifetime: Duration = TokenKind.access.lifetime
    package var refreshLifetime: Duration = TokenKind.refresh.lifetime
    /// What clocks may differ by.
    package var skew: Duration = .seconds(60)

    package init() {}
}
