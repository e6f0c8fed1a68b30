package import SyncModel

/// Live sessions must be told to reset (realm topic). Names a realm, or with `partition` nil the whole app in a slice.
package struct ResetNotice: CodableMessage, Equatable {
    package static let type = "client-reset"
    package var app: String
    package var partition: String?
    package var slice: SliceNumber
    /// Sessions of an older generation are meant; with `clientFile`, that one whatever its generation.
    package var generation: UInt64
    package var clientFile: FileIdent?
    package var campaign: String
    package var code: ErrorCode
    package var message: String
    /// The value of `integrated` in `RefusedAnswer`; set only with `clientFile`.
    package var integrated: ClientVersion?
    /// The ident below which all client files of an erased realm are: their sessions are meant, whatever their
    /// generation.
    package var identsBelow: FileIdent?

    package init(
        app: String, partition: String?, slice: SliceNumber, generation: UInt64, clientFile: FileIdent?,
        campaign: String, code: ErrorCode, message: String, integrated: ClientVersion? = nil,
        identsBelow: FileIdent? = nil
    ) {
        self.app = app
        self.partition = partition
        self.slice = slice
        self.generation = generation
        self.clientFile = clientFile
        self.campaign = campaign
        self.code = code
        self.message = message
        self.integrated = integrated
        self.identsBelow = identsBelow
    }

    /// The routing key that reaches every gateway with a session of the app.
    package static func topicKey(app: String) -> String { "\(RealmName.topicWord(app)).generation" }
}

/// The generation of an app in one slice, repeated with every tick: a session of an older one missed its reset notice.
package struct GenerationNotice: CodableMessage, Equatable {
    package static let type = "generation"
    package var app: String
    package var slice: SliceNumber
    package var generation: UInt64
    package var campaign: String?

    package init(app: String, slice: SliceNumber, generation: UInt64, campaign: String?) {
        self.app = app
        self.slice = slice
        self.generation = generation
        self.campaign = campaign
    }
}

/// An app's settings or rules changed, or one of its users; gateways and workers read them again. Routing key `<app>.settings`.
package struct SettingsNotice: CodableMessage, Equatable {
    package static let type = "settings"
    package var app: String
    /// The user that changed; nil if it was the app.
    package var user: String?

    package init(app: String, user: String? = nil) {
        self.app = app
        self.user = user
    }

    package static func topicKey(app: String) -> String { "\(RealmName.topicWord(app)).settings" }
    /// The routing keys of all apps: a gateway remembers settings of apps that have no session there.
    package static let topicPattern = "*.settings"
}

/// There are new signing keys of tokens; gateways read them again (realm topic).
package struct SigningKeysNotice: CodableMessage, Equatable {
    package static let type = "signing-keys"
    /// One word, which no app's keys have.
    package static let topicKey = "signing-keys"

    package init() {}
}

/// A worker's heartbeat (presence exchange).
package struct HeartbeatMessage: CodableMessage, Equatable {
    package static let type = "heartbeat"
    package var worker: String
    /// Milliseconds of Unix time.
    package var at: UInt64
    package var owns: [SliceNumber]
    package var standsBy: [SliceNumber]
    package var epochs: [String: UInt64]
    /// Deliveries of each consumed slice queue that the worker holds unacknowledged.
    package var holds: [String: Int]
    /// How far each consumed slice is behind; nil from a worker of an earlier version.
    package var lags: [String: SliceLag]?
    /// Resets that wait for an operator in slices that the worker owns; nil if there are none.
    package var heldResets: [HeldResets]?
    /// The work that the worker has done since it started; nil from a worker of an earlier version.
    package var totals: WorkerTotals?
    /// The activity of the busiest slices; nil if there is nothing to say.
    package var activity: [SliceActivity]?
    /// The facts of the worker's process; nil from a worker of an earlier version.
    package var process: ProcessFacts?
    /// Messages that the worker has dealt with per second over the last interval, over all its slices.
    package var load: Double
    /// False in the last heartbeat of a worker that is shutting down.
    package var isStaying: Bool

    package init(
        worker: String, at: UInt64, owns: [SliceNumber], standsBy: [SliceNumber], epochs: [String: UInt64],
        holds: [String: Int] = [:], lags: [String: SliceLag]? = nil, heldResets: [HeldResets]? = nil,
        totals: WorkerTotals? = nil, activity: [SliceActivity]? = nil, process: ProcessFacts? = nil, load: Double,
        isStaying: Bool
    ) {
        self.worker = worker
        self.at = at
        self.owns = owns
        self.standsBy = standsBy
        self.epochs = epochs
        self.holds = holds
        self.lags = lags
        self.heldResets = heldResets
        self.totals = totals
        self.activity = activity
        self.process = process
        self.load = load
        self.isStaying = isStaying
    }
}

/// Resets of one app in one slice that an operator is asked about first.
package struct HeldResets: Codable, Sendable, Equatable {
    package var slice: SliceNumber
    package var app: String
    /// Milliseconds of Unix time.
    package var since: UInt64
    /// How many client files were to reset within a minute, of how many.
    package var asked: Int
    package var clientFiles: Int

    package init(slice: SliceNumber, app: String, since: UInt64, asked: Int, clientFiles: Int) {
        self.slice = slice
        self.app = app
        self.since = since
        self.asked = asked
        self.clientFiles = clientFiles
    }
}

/// How far a worker is behind in one slice. Only the owner can say: a broker does not tell how old a message is without
/// handing it out.
package struct SliceLag: Codable, Sendable, Equatable {
    /// When the oldest message in hand was published (milliseconds of Unix time, to the second); nil if there is none.
    package var oldestAt: UInt64?
    /// Messages dealt with per second since the last heartbeat.
    package var perSecond: Double

    package init(oldestAt: UInt64?, perSecond: Double) {
        self.oldestAt = oldestAt
        self.perSecond = perSecond
    }
}
