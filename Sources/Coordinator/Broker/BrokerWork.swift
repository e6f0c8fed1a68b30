import AMQP
import Logging
import Messages
import Operations
import ServiceLifecycle

/// Everything that a coordinator does through the broker, until the process stops.
struct BrokerWork: Sendable {
    let context: CoordinatorContext

    func run() async throws {
        let link = context.link
        context.readiness.set("coordinator.broker", ready: false, reason: "connecting")
        do {
            try await cancelWhenGracefulShutdown {
                try await link.connect { context.readiness.set("coordinator.broker", ready: false, reason: $0) }
            }
        } catch is CancellationError {
            return await link.close()
        } catch {
            await link.close()
            throw error
        }
        context.readiness.set("coordinator.role", ready: true, reason: "standing by")
        context.logger.info("connected to the broker", metadata: ["queue": "\(link.topology.outcomes)"])
        await withTaskGroup(of: Void.self) { group in
            for connection in [link.publisher, link.consumer] {
                group.addTask { await watch(connection) }
            }
            group.addTask { await PresenceListener(context: context).run() }
            group.addTask { await Ticker(context: context).run() }
            group.addTask { await ClusterWatch(context: context).run() }
            group.addTask { await OutcomeConsumer(context: context).run() }
            group.addTask { await DeadLetterWarden(context: context).run() }
            group.addTask { await context.answers.run() }
            // The six other tasks return when the process stops; the watchers end with the connections.
            for _ in 0..<6 { await group.next() }
            await link.close()
        }
        context.readiness.set("coordinator.broker", ready: false, reason: "stopped")
    }

    private func watch(_ connection: AMQPConnection) async {
        let link = context.link
        var generation: Int?
        for await change in connection.stateUpdates {
            // A connection that was lost and made again between two looks shows by its generation only.
            let isLost = !change.isUsable || (generation != nil && generation != change.generation)
            generation = change.generation ?? generation
            if connection === link.consumer, isLost, context.state.lostConsumer() {
                context.standBy("the connection was lost")
            }
            let obstacle = link.publisher.obstacle ?? link.consumer.obstacle
            context.readiness.set("coordinator.broker", ready: obstacle == nil, reason: obstacle ?? "connected")
        }
    }
}

extension AMQPConnectionState {
    /// Whether it takes publishes and deliveries now.
    var isUsable: Bool { generation != nil }

    fileprivate var generation: Int? { if case .connected(let generation) = self { generation } else { nil } }
}
