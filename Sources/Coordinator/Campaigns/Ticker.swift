import AMQP
import Logging
import Messages
import Operations
import ServiceLifecycle
import Storage

/// The coordinator's clock. Every coordinator asks with each beat who is active; the active one ticks the slices,
/// publishes campaigns that somebody recorded and did not live to publish, and measures.
struct Ticker: Sendable {
    let interval: Duration
    let link: BrokerLink
    let store: any ControlStore
    let state: CoordinatorState
    let publisher: CampaignPublisher
    let notices: SettingsNotifier
    let readiness: Readiness
    let clock: WallClock
    let logger: Logger

    /// A queue that nobody empties gets no more than so many ticks.
    static let maxWaiting = 20

    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            await beat()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    func beat() async {
        let now = clock.now()
        if state.passed(to: now) {
            readiness.set("coordinator.role", ready: true, reason: "standing by")
            logger.info("this coordinator stands by", metadata: ["reason": "no deliveries"])
        }
        reportSlices(now)
        await ask(now)
        await notices.sendOwed()
        CoordinatorMetrics.active(state.isActive)
        guard state.isActive else { return }
        await publisher.publishRecorded()
        await tickSlices(now)
        do {
            CoordinatorMetrics.campaigns(try await store.newestCampaigns())
            readiness.set("coordinator.store", ready: true, reason: "open")
        } catch {
            readiness.set("coordinator.store", ready: false, reason: error.message)
            logger.warning("campaigns not measured", metadata: ["error": "\(error)"])
        }
    }

    /// A cluster with a slice that nobody owns does not serve the realms in it.
    private func reportSlices(_ now: UInt64) {
        let ownerless = state.cluster.slices(link.slices, at: now).filter { $0.owner == nil }.map(\.slice.description)
        CoordinatorMetrics.ownerless(ownerless.count)
        let names = ownerless.prefix(8).joined(separator: ", ") + (ownerless.count > 8 ? " ..." : "")
        readiness.set(
            "coordinator.slices", ready: ownerless.isEmpty,
            reason: ownerless.isEmpty ? "all have an owner" : "\(ownerless.count) without an owner: \(names)")
    }

    /// Sends a tick through the outcomes queue: it reaches whoever is active.
    private func ask(_ now: UInt64) async {
        do {
            guard try await link.inspect(link.topology.outcomes).messageCount < Self.maxWaiting * 10 else { return }
            try await link.publish(
                TickMessage(at: now), exchange: link.topology.outcomes, routingKey: "", mandatory: true)
        } catch {
            logger.debug("tick to the coordinators not sent", metadata: ["error": "\(error)"])
        }
    }

    private func tickSlices(_ now: UInt64) async {
        do {
            var batch: [(AMQPMessage, exchange: String, routingKey: String)] = []
            for slice in state.cluster.slices(link.slices, at: now) {
                if slice.owner == nil {
                    // Nobody says that it works on this slice: ticks must not pile up until somebody does.
                    let waiting = try await link.inspect(link.topology.slice(slice.slice)).messageCount
                    guard waiting < Self.maxWaiting else { continue }
                }
                let message = try AMQPMessage(TickMessage(at: now))
                batch.append((message, exchange: link.topology.slices, routingKey: String(slice.slice.value)))
            }
            let failures = try await link.publish(batch: batch).compactMap(\.self)
            CoordinatorMetrics.ticked(batch.count - failures.count)
            if let failure = failures.first { throw failure }
        } catch {
            logger.warning("ticks to the slices not sent", metadata: ["error": "\(error)"])
        }
    }
}
