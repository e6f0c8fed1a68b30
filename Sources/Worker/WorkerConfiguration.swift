package import AMQP
package import Messages
package import Query
package import Storage
package import SyncModel
package import Views

/// What a worker needs to know before it starts.
package struct WorkerConfiguration: Sendable {
    /// Names the process in queues, heartbeats and the slices' ownership; unique among all that run.
    package var id: String
    package var amqp: AMQPConfiguration
    package var topology: Topology
    package var slices: SliceCount
    /// Deliveries in hand for one slice: the most that one commit covers.
    package var prefetch: Int
    /// Where bodies of deliveries wait that would take too much memory.
    package var spoolFolder = "/var/tmp"
    package var heartbeatInterval: Duration
    /// How long a slice stays with an owner that shows no life.
    package var leaseDuration: Duration
    package var limits: WorkerLimits
    /// Says whether the broker is the cluster's; nil for a worker that is used alone.
    package var gate: BrokerGate?
    /// Says whether a slice's store is the cluster's; nil likewise.
    package var registry: SliceRegistry?
    /// Tells what the process is; nil for a worker that is used alone.
    package var process: (@Sendable () -> ProcessFacts)?

    package init(
        id: String, amqp: AMQPConfiguration, topology: Topology, slices: SliceCount, prefetch: Int = 1_000,
        heartbeatInterval: Duration = .seconds(2), leaseDuration: Duration = .seconds(15),
        limits: WorkerLimits = WorkerLimits()
    ) {
        self.id = id
        self.amqp = amqp
        self.topology = topology
        self.slices = slices
        self.prefetch = min(max(prefetch, 1), 2_000)
        self.heartbeatInterval = heartbeatInterval
        self.leaseDuration = leaseDuration
        self.limits = limits
    }
}

/// The bounds of what a worker holds and does at once.
package struct WorkerLimits: Sendable {
    /// Bodies of one batch of deliveries.
    package var maxBatchBytes = 8 << 20
    /// Bodies of deliveries that wait in memory for the slices of a worker; more wait in a file.
    package var maxHeldBytes = 64 << 20
    /// Bodies of deliveries that an owner has read and that wait for their turn; no more are taken then.
    package var maxWaitingBytes = 16 << 20
    /// What is held in memory between commits: of one slice, then of each realm.
    package var maxRealms = 512
    package var maxObjects = 100_000
    package var maxHistoryBytes = 64 << 20
    package var maxObjectsPerRealm = 50_000
    /// The bytes of the objects held between commits, as the store has them: few may be as large as uploads are allowed to be.
    package var maxObjectBytes = 64 << 20
    package var maxObjectBytesPerRealm = 16 << 20
    package var maxRecentHistoryBytes = 4 << 20
    /// The bytes that are held of each realm's index of its latest history by object, and of the versions that merging has parsed.
    package var maxIndexBytes = 8 << 20
    package var maxParsedBytes = 8 << 20
    package var maxClientFilesPerRealm = 1_000
    package var maxReciprocalBytes = 1 << 20
    /// Digests of older history that a search reads at once.
    package var maxDigestBytes = 256 << 10
    /// Local history that one step of a merge holds parsed. The slice reads and parses it before a long merge goes on beside it.
    package var maxWindowBytes = 4 << 20
    package var maxPageBytes = 4 << 20
    /// The bytes of history that a client of a flexible realm may be behind: what it is to be sent is decided at once. Clients of protocol 14
    /// never are so far behind: beyond `maxViewArrears` they are sent what they have missed page by page.
    package var maxViewHistoryBytes = 64 << 20
    package var maxViewArrears = 8 << 20
    /// The limits of what is kept of a flexible realm's objects as they were before versions.
    package var images = ImageLimits()
    /// What the merge of one upload may take, in steps of about three nanoseconds (`MergeMeter`); beyond, it is cut off and its
    /// client reset.
    package var mergeStepsPerUpload: UInt64 = 500_000_000
    /// What a merge may take of its slice's time; beyond, it goes on beside the slice, and its realm waits.
    package var mergeStepsInSlice: UInt64 = 1_000_000
    /// What one realm and one app may take of a slice at once before the rest waits, and what all together take between two
    /// commits.
    package var mergeStepsPerRealm: UInt64 = 6_000_000
    package var mergeStepsPerApp: UInt64 = 12_000_000
    package var mergeStepsPerTurn: UInt64 = 24_000_000
    /// What trying objects on subscription sets and roles may take, in the same steps.
    package var evaluation = EvaluationLimits()
    /// Uploads in a row of one client are merged together up to this.
    package var maxTogetherBytes = 4 << 20
    /// The bytes above which a notice names its versions without carrying them.
    package var maxNoticeBytes = 2 << 20
    /// The same in flexible mode, and those above which a notice does not tell of the objects.
    package var maxViewNoticeBytes = 512 << 10
    package var maxFoundPerReport = 500
    /// Client realms that a termination has reset may come back at once; more are spread over the time that this rate
    /// gives, up to a longest.
    package var resetsAtOnce = 100
    package var resetsPerSecond = 50
    package var maxResetSpread: Duration = .seconds(600)
    /// The share of an app's client files in a slice that may be asked to reset within a minute without a termination, in percent, and the number
    /// that may in any case. Beyond, an operator is asked.
    package var resetSharePercent = 20
    package var minHeldResets = 10
    /// How long the row of a client file stays that is not live any more, after the client was last seen; nil: for ever.
    package var clientFileLifetime: Duration? = .seconds(180 * 86_400)
    /// The longest time between two tries of a store that cannot be used.
    package var maxStorePause: Duration = .seconds(2)
    /// How long a slice may hold messages and deal with none before its worker says that it stands still.
    package var maxStandstill: Duration = .seconds(60)
    /// A slice that has messages in hand for so long and deals with none asks what the store waits for.
    package var maxQuietStore: Duration = .seconds(5)
    /// How long a MARK without recovered uploads must stay without them to count as a discard.
    package var quietAfterMark: Duration = .seconds(15)

    package var compaction = CompactionLimits()
    package var erasure = ErasureLimits()
    package var termination = TerminationLimits()
    package var restart = RestartLimits()
    /// The ranges of an index that a bootstrap looks into at once, and with one page, whether there is anything in them or not.
    package var indexRangesAtOnce = 1_000
    package var indexRangesPerPage = 4_000
    /// Objects of a flexible realm that one commit adds to indexes that are being filled.
    package var indexStepBytes = 256 << 10

    /// What apps and users may have and add, where the app has no value of its own.
    package var quotas = QuotaValues()

    /// False merges every upload with all of the history since its base: the same result, to compare with.
    package var usesHistoryIndex = true

    package init() {}
}
