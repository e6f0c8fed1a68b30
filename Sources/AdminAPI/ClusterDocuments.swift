package import SyncModel

/// The coordinator that answers, and the cluster's size.
package struct ClusterDocument: Codable, Sendable, Equatable {
    package var coordinator: String
    /// Whether it is the one that acts; the others stand by.
    package var active: Bool
    package var slices: Int

    package init(coordinator: String, active: Bool, slices: Int) {
        self.coordinator = coordinator
        self.active = active
        self.slices = slices
    }
}

/// A slice as the workers' heartbeats tell of it.
package struct SliceDocument: Codable, Sendable, Equatable {
    package var slice: SliceNumber
    /// Absent while no worker says that it owns the slice.
    package var owner: String?
    package var standBy: [String]
    package var epoch: UInt64?
    /// Messages that wait in the slice's queue, as the broker said last; absent until it has.
    package var ready: Int?
    /// Deliveries that the owner holds unacknowledged.
    package var unacknowledged: Int?
    /// When the oldest message that the owner holds was published (milliseconds of Unix time); absent if it holds none.
    package var oldestAt: UInt64?
    /// Messages of this slice that the owner deals with per second.
    package var perSecond: Double?
    /// Messages that come for the slice per second, by what has piled up and what was dealt with.
    package var inPerSecond: Double?
    /// Messages that the owner deals with per second, over all its slices.
    package var load: Double?
    package var lastHeardAt: UInt64?
    /// Apps whose clients the slice does not ask to reset before an operator has looked; absent if there are none.
    package var heldResets: [HeldResetsDocument]?

    package init(slice: SliceNumber) {
        self.slice = slice
        standBy = []
    }
}

/// Resets of one app that a slice holds because they were too many.
package struct HeldResetsDocument: Codable, Sendable, Equatable {
    package var app: String
    /// How many client files were to reset within a minute, of how many.
    package var asked: Int
    package var clientFiles: Int
    /// Milliseconds of Unix time.
    package var since: UInt64

    package init(app: String, asked: Int, clientFiles: Int, since: UInt64) {
        self.app = app
        self.asked = asked
        self.clientFiles = clientFiles
        self.since = since
    }
}

/// One owner's time with a slice, as the slice's own store remembers it.
package struct SliceOwnerDocument: Codable, Sendable, Equatable {
    /// Words for what let the worker take the slice.
    package enum How: String, Codable, Sendable { case claimed, released, dead, lease }

    package var slice: SliceNumber
    package var epoch: UInt64
    package var worker: String
    /// Milliseconds of Unix time.
    package var takenAt: UInt64
    package var how: How
    /// Absent while it is owned, and for ever if the slice was taken from this owner.
    package var releasedAt: UInt64?

    package init(
        slice: SliceNumber, epoch: UInt64, worker: String, takenAt: UInt64, how: How, releasedAt: UInt64? = nil
    ) {
        self.slice = slice
        self.epoch = epoch
        self.worker = worker
        self.takenAt = takenAt
        self.how = how
        self.releasedAt = releasedAt
    }
}

/// The last hundred owners of a slice, the oldest first; empty if nobody has ever taken it.
package struct SliceOwnerList: Codable, Sendable, Equatable {
    package var owners: [SliceOwnerDocument]

    package init(owners: [SliceOwnerDocument]) { self.owners = owners }
}

package struct SliceList: Codable, Sendable, Equatable {
    package var slices: [SliceDocument]

    package init(slices: [SliceDocument]) { self.slices = slices }
}

/// A queue of the cluster: what the broker counts, and what the owner of a slice's queue says of it.
package struct QueueDocument: Codable, Sendable, Equatable {
    package var queue: String
    /// Absent for a queue that is no slice's.
    package var slice: SliceNumber?
    /// Messages that wait.
    package var ready: Int
    package var consumers: Int
    package var owner: String?
    /// Deliveries that the owner holds unacknowledged.
    package var unacknowledged: Int?
    /// When the oldest message that the owner holds was published (milliseconds of Unix time); absent if it holds none.
    package var oldestAt: UInt64?
    /// Messages of this slice that the owner deals with per second.
    package var perSecond: Double?

    /// - Parameter slice: as heartbeats tell of it; nil for a queue that is no slice's.
    package init(queue: String, ready: Int, consumers: Int, of slice: SliceDocument?) {
        self.queue = queue
        self.ready = ready
        self.consumers = consumers
        self.slice = slice?.slice
        owner = slice?.owner
        unacknowledged = slice?.unacknowledged
        oldestAt = slice?.oldestAt
        perSecond = slice?.perSecond
    }
}

/// The queues of all slices, and those of outcomes and of dead letters.
package struct QueueList: Codable, Sendable, Equatable {
    package var queues: [QueueDocument]

    package init(queues: [QueueDocument]) { self.queues = queues }
}

/// A worker as its last heartbeat tells of it.
package struct WorkerDocument: Codable, Sendable, Equatable {
    package var worker: String
    package var owns: [SliceNumber]
    package var standsBy: [SliceNumber]
    /// Messages dealt with per second, over all its slices.
    package var load: Double
    /// Milliseconds of Unix time, by the coordinator's clock.
    package var lastHeardAt: UInt64
    /// False once it has said goodbye.
    package var isStaying: Bool

    package init(
        worker: String, owns: [SliceNumber], standsBy: [SliceNumber], load: Double, lastHeardAt: UInt64, isStaying: Bool
    ) {
        self.worker = worker
        self.owns = owns
        self.standsBy = standsBy
        self.load = load
        self.lastHeardAt = lastHeardAt
        self.isStaying = isStaying
    }
}

package struct WorkerList: Codable, Sendable, Equatable {
    package var workers: [WorkerDocument]

    package init(workers: [WorkerDocument]) { self.workers = workers }
}
