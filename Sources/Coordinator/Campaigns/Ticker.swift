import AMQP
import AdminAPI
import Logging
import Messages
import Operations
import ServiceLifecycle
import Storage
import SyncModel

/// The coordinator's clock. Every coordinator asks with each beat who is active; the active one ticks the slices,
/// publishes campaigns that somebody recorded and did not live to publish, and measures.
struct Ticker: Sendable {
    let context: CoordinatorContext
    private let anonymousUsers = AnonymousUsers()
    private let turns = QueueTurns()
    private let appDeletions = AppDeletions()
    private let agedCampaigns = AgedCampaigns()
    private let migrations = ModeMigrations()

    /// How far behind an owner may be (milliseconds) before its slice gets no tick while `maxBehind` messages wait in its queue.
    static let patience: UInt64 = 60_000
    static let maxBehind = 1_000

    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            await beat()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: context.configuration.tickInterval) }
        }
        migrations.stop()
    }

    func beat() async {
        let now = context.now
        await ask(now)
        await context.notices.sendOwed()
        await showSlices(now)
        guard context.state.isActive else { return }
        await context.publisher.publishRecorded()
        await tickSlices(now)
        await lookAfter("signing keys") { try await KeyRotation(context: context).keepUp() }
        await lookAfter("anonymous users") { try await anonymousUsers.keepUp(context) }
        await lookAfter("deleted apps") { try await appDeletions.keepUp(context) }
        await lookAfter("old campaigns") { try await agedCampaigns.keepUp(context) }
        await lookAfter("moving apps") { try await migrations.keepUp(context) }
        await lookAfter("backups") { CoordinatorMetrics.lastBackup(try await context.store.lastBackup()) }
        do {
            try await context.state.campaignGauges.show(context.store, at: now)
            context.readiness.set("coordinator.store", ready: true, reason: "open")
        } catch {
            context.readiness.set("coordinator.store", ready: false, reason: error.message)
            context.logger.warning("campaigns not measured", metadata: ["error": "\(error)"])
        }
    }

    private func lookAfter(_ what: String, _ keepUp: () async throws -> Void) async {
        do {
            try await keepUp()
        } catch {
            context.logger.warning("\(what) not looked after, will try again", metadata: ["error": "\(error)"])
        }
    }

    /// Finds out how far each slice is behind, and keeps it for the dashboard; the active coordinator's metrics say so, too. A queue
    /// that cannot be asked keeps what it had.
    private func showSlices(_ now: UInt64) async {
        for slice in turns.due(of: Array(context.slices.all)) {
            guard let count = try? await context.link.inspect(context.topology.slice(slice)).messageCount else { break }
            context.state.ready(count, in: slice)
        }
        context.state.keepHistory(of: context.slices, at: now)
        guard context.state.isActive else { return }
        CoordinatorMetrics.slices(SliceFigures(context.slicePictures(at: now), at: now))
    }

    /// Sends a tick through the outcomes queue, which delivers it to the active coordinator.
    private func ask(_ now: UInt64) async {
        do {
            let waiting = try await context.link.inspect(context.topology.outcomes).messageCount
            CoordinatorMetrics.outcomesReady(waiting)
            guard waiting < UnheardTicks.maximum * 10 else { return }
            try await context.link.publish(TickMessage(at: now), exchange: context.topology.outcomes)
        } catch {
            context.logger.debug("tick to the coordinators not sent", metadata: ["error": "\(error)"])
        }
    }

    /// Whether a tick would be worked on: ticks must not pile up in a queue without a consumer. A busy broker's counts lag behind
    /// or say 0, so what was sent is counted, too.
    private func takesTick(_ slice: SliceDocument, _ now: UInt64) async throws -> Bool {
        guard slice.owner == nil else {
            context.state.hasOwner(slice.slice)
            guard let oldest = slice.oldestAt, now > oldest, now - oldest > Self.patience else { return true }
            return try await context.link.inspect(context.topology.slice(slice.slice)).messageCount < Self.maxBehind
        }
        guard
            try await context.link.inspect(context.topology.slice(slice.slice)).messageCount < UnheardTicks.maximum
        else { return false }
        return context.state.unheardTicks(of: slice.slice).allowAnother(at: now)
    }

    private func tickSlices(_ now: UInt64) async {
        do {
            var batch: [(AMQPMessage, exchange: String, routingKey: String)] = []
            var ticked: [SliceNumber] = []
            for slice in context.state.cluster.slices(context.slices, at: now) {
                guard try await takesTick(slice, now) else { continue }
                let message = try AMQPMessage(TickMessage(at: now))
                batch.append((message, exchange: context.topology.slices, routingKey: String(slice.slice.value)))
                ticked.append(slice.slice)
            }
            let results = try await context.link.publish(batch: batch)
            for (slice, error) in zip(ticked, results) where error == nil { context.state.ticked(slice, at: now) }
            let failures = results.compactMap(\.self)
            CoordinatorMetrics.ticked(batch.count - failures.count)
            if let failure = failures.first { throw failure }
        } catch {
            context.logger.warning("ticks to the slices not sent", metadata: ["error": "\(error)"])
        }
    }
}
