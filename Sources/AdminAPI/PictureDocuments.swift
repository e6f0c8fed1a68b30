/// The cluster at a glance: what stands, what moves and what is stuck.
package struct OverviewDocument: Codable, Sendable, Equatable {
    /// Something that an operator should look at.
    package struct Finding: Codable, Sendable, Equatable {
        package enum Level: String, Codable, Sendable { case warning, fault }

        package var level: Level
        package var text: String
        /// The dashboard's page that shows more.
        package var page: String
        /// The alert of `deploy/prometheus` that tells of the same.
        package var alert: String?

        package init(_ level: Level, _ text: String, page: String, alert: String? = nil) {
            self.level = level
            self.text = text
            self.page = page
            self.alert = alert
        }
    }

    package var coordinator: String
    package var active: Bool
    /// Milliseconds of Unix time, by the coordinator's clock.
    package var at: UInt64
    package var slices: Int
    /// Absent while the broker is away: nobody is heard then.
    package var slicesServed: Int?
    /// Workers and gateways that were heard lately.
    package var workers: Int
    package var gateways: Int
    /// How far back the oldest message is that an owner holds, in milliseconds; absent if none holds any, and while the broker is away.
    package var oldest: UInt64?
    /// Messages in the slices' queues and with their owners; absent while the broker is away.
    package var waiting: Int?
    /// Absent while the broker does not say.
    package var deadLetters: Int?
    /// Absent while the store does not say.
    package var campaignsRunning: Int?
    /// Client realms whose reset has not ended, of those campaigns; absent likewise.
    package var resetsPending: Int?
    /// One line of health in words.
    package var sentence: String
    package var findings: [Finding]
    /// The newest figures; absent until there are any.
    package var figures: HistoryPoint?
    /// Where Grafana is, if the settings say so.
    package var grafana: String?

    package init(coordinator: String, active: Bool, at: UInt64, slices: Int) {
        self.coordinator = coordinator
        self.active = active
        self.at = at
        self.slices = slices
        workers = 0
        gateways = 0
        sentence = ""
        findings = []
    }
}

/// The cluster's figures at one time.
package struct HistoryPoint: Codable, Sendable, Equatable {
    /// Milliseconds of Unix time.
    package var at: UInt64
    /// Changesets integrated, transactions committed and errors, each per second since the point before.
    package var changesets: Double
    package var commits: Double
    package var errors: Double
    package var sessions: Int
    /// Messages in the slices' queues and with their owners.
    package var waiting: Int
    /// Seconds.
    package var oldest: Double

    package init(
        at: UInt64, changesets: Double, commits: Double, errors: Double, sessions: Int, waiting: Int, oldest: Double
    ) {
        self.at = at
        self.changesets = changesets
        self.commits = commits
        self.errors = errors
        self.sessions = sessions
        self.waiting = waiting
        self.oldest = oldest
    }
}

/// The last hour's figures, as this coordinator has seen it, oldest first.
package struct HistoryDocument: Codable, Sendable, Equatable {
    package var points: [HistoryPoint]
    /// The last day, if that was asked for: a point every five minutes, with the mean of rates and the most of all else.
    package var day: [HistoryPoint]?
    /// Messages waiting in each slice, by its number, if that was asked for: the most of each minute, the newest last.
    package var strips: [[Int]]?

    package init(points: [HistoryPoint], day: [HistoryPoint]? = nil, strips: [[Int]]? = nil) {
        self.points = points
        self.day = day
        self.strips = strips
    }
}

/// One slice: how it stands, its figures of the last hour, and who has owned it.
package struct SlicePictureDocument: Codable, Sendable, Equatable {
    package struct Point: Codable, Sendable, Equatable {
        /// Milliseconds of Unix time.
        package var at: UInt64
        package var ready: Int
        package var unacknowledged: Int
        /// Seconds.
        package var oldest: Double
        package var inPerSecond: Double
        package var outPerSecond: Double

        package init(
            at: UInt64, ready: Int, unacknowledged: Int, oldest: Double, inPerSecond: Double, outPerSecond: Double
        ) {
            self.at = at
            self.ready = ready
            self.unacknowledged = unacknowledged
            self.oldest = oldest
            self.inPerSecond = inPerSecond
            self.outPerSecond = outPerSecond
        }
    }

    /// A change of the slice's owner, as heartbeats told.
    package struct Owning: Codable, Sendable, Equatable {
        /// Milliseconds of Unix time.
        package var at: UInt64
        /// Absent: the slice had none from then on.
        package var owner: String?
        package var epoch: UInt64?

        package init(at: UInt64, owner: String?, epoch: UInt64?) {
            self.at = at
            self.owner = owner
            self.epoch = epoch
        }
    }

    /// The work that the slice is busy with.
    package struct Busy: Codable, Sendable, Equatable {
        package var app: String
        /// Absent: all of the app's realms in the slice together. Empty: the app's one realm.
        package var partition: String?
        /// Integrated in the last five minutes, about.
        package var changesets: Int

        package init(app: String, partition: String? = nil, changesets: Int) {
            self.app = app
            self.partition = partition
            self.changesets = changesets
        }
    }

    /// The requests that the owner has refused an app's clients since it took the slice.
    package struct Refusals: Codable, Sendable, Equatable {
        package var app: String
        /// Uploads whose merge would have gone beyond its budget.
        package var merges: UInt64
        /// The requests that went beyond a quota.
        package var quotas: UInt64

        package init(app: String, merges: UInt64, quotas: UInt64) {
            self.app = app
            self.merges = merges
            self.quotas = quotas
        }
    }

    package var slice: SliceDocument
    package var points: [Point]
    /// The newest first.
    package var owners: [Owning]
    /// The busiest first.
    package var realms: [Busy]
    package var apps: [Busy]
    package var refusals: [Refusals]

    package init(
        slice: SliceDocument, points: [Point], owners: [Owning], realms: [Busy] = [], apps: [Busy] = [],
        refusals: [Refusals] = []
    ) {
        self.slice = slice
        self.points = points
        self.owners = owners
        self.realms = realms
        self.apps = apps
        self.refusals = refusals
    }
}

/// A line of the cluster's event stream. What is absent has not changed since the line before.
package struct ClusterEvent: Codable, Sendable, Equatable {
    package var overview: OverviewDocument
    /// The slices that have changed, in a stream that was asked for slices.
    package var slices: [SliceDocument]?

    package init(overview: OverviewDocument, slices: [SliceDocument]? = nil) {
        self.overview = overview
        self.slices = slices
    }
}
