import Foundation

/// What an installation of so many client realms asks of each resource, and how many machines that takes.
struct CapacityModel {
    /// What clients do in the hour in which they do most.
    struct Load {
        var clientRealms: Double
        /// The share of all client realms that are connected.
        var connected: Double
        /// The changes that a connected client makes in a minute.
        var changesPerMinute: Double
        /// How long a client stays connected.
        var sessionMinutes: Double
        /// A changeset, in bytes, as it comes and as the history keeps it.
        var changeBytes: Double

        var sessions: Double { clientRealms * connected }
        /// A second.
        var changes: Double { sessions * changesPerMinute / 60 }
        /// Opened a second.
        var openings: Double { sessions / (sessionMinutes * 60) }
    }

    /// What there is, and how much of it is planned with.
    struct Machines {
        var slices: Double
        var brokerCopies: Double
        /// The time between worker and database, there and back, in milliseconds.
        var roundTrip: Double
        /// A commit in the database, in milliseconds.
        var commit: Double
        /// Cores of a machine of any role.
        var cores: Double
        /// The share of a core, a link or a slice that may be in use in that hour.
        var utilisation: Double
        /// Kilobytes that a gateway has for sessions.
        var sessionMemory: Double
        /// Transactions a second that one database machine commits, and megabytes that it writes.
        var databaseTransactions: Double
        var databaseMegabytes: Double
        /// Messages a second of one broker of three nodes, whatever its cores: a quorum queue's leader is one process, but
        /// there is one for each slice.
        var brokerMessages: Double
    }

    /// A resource, what one of it gives, and what is asked of it.
    struct Demand {
        var resource: String
        var unit: String
        var asked: Double
        /// What one unit gives: a machine, a slice, a broker.
        var each: Double
        var units: Double { max((asked / each).rounded(.up), 1) }
        /// The client realms at which one of it is full.
        func full(at clientRealms: Double) -> Double { asked > 0 ? clientRealms * each / asked : .infinity }
    }

    var costs = UnitCosts()
    var load: Load
    var machines: Machines

    /// Batches that a slice commits a second. One that is idle commits each change alone; one that is busy commits what has come
    /// while it committed before.
    var batchesOfSlice: Double {
        let arriving = (load.changes + load.openings) / machines.slices
        return arriving / (1 + arriving * turn / 1000)
    }

    /// Milliseconds in which a slice waits for the database with each batch.
    private var turn: Double { costs.roundTripsOfBatch * machines.roundTrip + machines.commit }

    /// Milliseconds of a core, a second, for all changes, of which each batch's first one is as dear as one alone.
    private func processor(_ role: KeyPath<UnitCosts.Work, Double>) -> Double {
        let batches = min(batchesOfSlice * machines.slices, load.changes)
        let (alone, bulk) = (costs.change[keyPath: role], costs.changeInBulk[keyPath: role])
        return load.changes * bulk + batches * (alone - bulk) + load.openings * costs.session[keyPath: role]
    }

    var demands: [Demand] {
        let cores = machines.cores * 1000 * machines.utilisation
        let messages = load.changes * costs.messagesOfChange + load.openings * costs.messagesOfSession
        let batches = batchesOfSlice * machines.slices
        // A slice does one thing at a time. With full batches it reads and commits once for all messages of its prefetch.
        let ofMessage = costs.changeInBulk.worker + turn / costs.messagesOfBatch
        return [
            Demand(
                resource: "gateways, processor", unit: "cores", asked: processor(\.gateway) / 1000, each: cores / 1000),
            Demand(
                resource: "gateways, memory", unit: "GB of sessions", asked: load.sessions * costs.idleSession / 1e6,
                each: machines.sessionMemory / 1e6),
            Demand(
                resource: "workers, processor", unit: "cores", asked: processor(\.worker) / 1000, each: cores / 1000),
            Demand(
                resource: "brokers of \(Int(machines.brokerCopies)) nodes, processor", unit: "cores of a node",
                asked: processor(\.broker) / 1000, each: cores / 1000),
            Demand(
                resource: "brokers, messages", unit: "messages/s", asked: messages,
                each: machines.brokerMessages * machines.utilisation),
            Demand(
                resource: "slices", unit: "changes and sessions/s", asked: load.changes + load.openings,
                each: machines.utilisation * 1000 / ofMessage),
            Demand(
                resource: "databases, transactions", unit: "a second", asked: batches,
                each: machines.databaseTransactions * machines.utilisation),
            // The history, its digests and the objects, and the log that is written ahead of all three.
            Demand(
                resource: "databases, writing", unit: "MB/s", asked: load.changes * load.changeBytes * 6 / 1e6,
                each: machines.databaseMegabytes * machines.utilisation),
        ]
    }
}
