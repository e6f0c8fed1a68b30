import AMQP
import Logging
import Messages
import Storage
import SyncModel

/// Takes a slice in the store: at once if nobody has it, else when its owner has let it go, is proved not to live any more, or
/// has let its lease run out.
struct SliceTaking {
    let store: any SliceStore
    let configuration: WorkerConfiguration
    let clock: WorkerClock
    /// A connection by which other workers' queues are looked for.
    let connection: AMQPConnection
    let logger: Logger

    private var lease: UInt64 { configuration.leaseDuration.milliseconds }

    /// What was seen of an owner's lease so far.
    private struct Watched {
        /// An owner that is known not to live any more.
        var gone: String?
        /// When the lease ends, by the owner's clock, and since when that has stood, by the uptime.
        var lease: (until: UInt64, at: UInt64)?
    }

    /// - Parameters:
    ///   - mayGoOn: whether the slice is still wanted.
    ///   - patiently: repeats what the store cannot do yet.
    /// - Returns: the epoch, and the uptime from which the lease counts.
    nonisolated(nonsending) func take(
        mayGoOn: () -> Bool,
        patiently: (() async throws -> (SliceClaim, UInt64)) async throws -> (SliceClaim, UInt64)
    ) async throws -> (epoch: Epoch, renewedAt: UInt64) {
        var watched = Watched()
        while true {
            guard mayGoOn() else {
                throw WorkerError(.stopping, "slice \(store.slice) is not taken any more")
            }
            let seen = watched
            let (claim, uptime) = try await patiently { try await self.claim(seen) }
            switch claim {
            case .owned(let epoch): return (epoch, uptime)
            case .heldBy(let holder, let until):
                logger.debug("slice is held", metadata: ["owner": "\(holder)", "until": "\(until)"])
                if watched.lease?.until != until { watched.lease = (until, uptime) }
                watched.gone = await isGone(holder) ? holder : nil
                if watched.gone == nil { try await Task.sleep(for: .milliseconds(250)) }
            }
        }
    }

    private nonisolated(nonsending) func claim(_ watched: Watched) async throws -> (SliceClaim, UInt64) {
        try await configuration.registry?.check(store)
        let (now, uptime) = (clock.now(), clock.uptime())
        let overdue = watched.lease.flatMap { uptime >= $0.at &+ lease ? $0.until : nil }
        let claim = try await store.claim(
            by: configuration.id, now: now, leaseUntil: now &+ lease, gone: watched.gone, overdue: overdue)
        if case .owned(let epoch) = claim { try await configuration.registry?.taken(store.slice, epoch: epoch) }
        return (claim, uptime)
    }

    /// A worker's exclusive queue goes with its connection, so its absence proves that the worker has lost it.
    private func isGone(_ worker: String) async -> Bool {
        do {
            let channel = try await connection.openChannel()
            defer { Task { await channel.close() } }
            try await channel.declareQueue(
                AMQPQueueDeclaration(name: configuration.topology.workerAlive(worker), passive: true), record: false)
            return false
        } catch {
            return error.code == .notFound
        }
    }
}
