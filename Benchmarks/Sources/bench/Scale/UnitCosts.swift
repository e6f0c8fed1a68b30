/// What one unit of work takes of each role: milliseconds of one core, as docs/performance.md has them, from two virtual cores.
struct UnitCosts {
    /// Milliseconds of processor time.
    struct Work {
        var gateway = 0.0
        var worker = 0.0
        /// The time of a broker node for each copy that it keeps.
        var broker = 0.0
        var coordinator = 0.0
    }

    /// A change of one client that one other gets, with the acknowledgements of both, while nothing else goes on: every message is
    /// a batch of its own (`bench latency`, 220 changes).
    var change = Work(gateway: 1.2, worker: 1.4, broker: 2.0)
    /// The same where batches are full: the worker's share from `bench own-realms`, 5,000 changesets of 500 bytes; the broker's
    /// from `bench amqp`, four messages of 200 bytes published and consumed. The gateway's is not known apart.
    var changeInBulk = Work(gateway: 1.2, worker: 0.112, broker: 0.46)
    /// A socket that is opened, a login looked up, BIND, IDENT, the first DOWNLOAD (`bench reconnect`, 10,000 sessions).
    var session = Work(gateway: 1.11, worker: 0.35, broker: 0.57)
    /// A client realm that is told of its reset, and the report of it (`bench termination`, 5,000 client realms).
    var told = Work(gateway: 0.8, worker: 0.02, broker: 0.12, coordinator: 0.3)
    /// One more report to the coordinator, of an outcome: as that of `told`.
    var report = Work(broker: 0.12, coordinator: 0.3)
    /// An object of a realm that is written anew: a fifth of a changeset of five (`bench own-realms`).
    var object = Work(worker: 0.0224)
    /// A megabyte of DOWNLOADs that no two clients have alike, encoded and compressed (`bench shared-realm`, 345 MB in 4.7 s).
    var megabyte = Work(gateway: 13.6)

    /// A session that does nothing, in kB of a gateway's memory (`bench sessions`).
    var idleSession = 25.8
    /// Messages of a change: an UPLOAD to the slice, a notice, the two clients' acknowledgements.
    var messagesOfChange = 4.0
    /// Messages of a session: three requests and their answers.
    var messagesOfSession = 6.0
    /// Messages that a slice takes at once (`worker.prefetch`).
    var messagesOfBatch = 1000.0
    /// Round trips to the database of a batch: one to look up what it needs, one to commit.
    var roundTripsOfBatch = 2.0
}
