import AMQP
import AdminAPI
import Messages
import SyncModel

/// Asks the broker for the cluster's queues, at most every half second: those who ask meanwhile get what it said last.
actor QueueLook {
    private static let age = Duration.milliseconds(500)

    private let context: CoordinatorContext
    private var last: (list: QueueList, at: ContinuousClock.Instant)?
    private var running: Task<QueueList, any Error>?

    init(context: CoordinatorContext) { self.context = context }

    /// - Throws: `not_found` for a queue that is not there, `broker_unavailable`.
    func look() async throws -> QueueList {
        if let last, last.at.duration(to: .now) < Self.age { return last.list }
        if let running { return try await running.value }
        // The look has a task of its own, since the request that began it may be given up while others wait for it.
        let task = Task { [context] in try await Self.look(context) }
        running = task
        defer { running = nil }
        let list = try await task.value
        last = (list, .now)
        return list
    }

    private static func look(_ context: CoordinatorContext) async throws -> QueueList {
        let topology = context.topology
        // A passive declaration of a queue that is not there closes its channel, so each look has its own.
        let channel = try await context.link.consumer.openChannel()
        do {
            let slices = context.slicePictures(at: context.now).map { (topology.slice($0.slice), Optional($0)) }
            var queues: [QueueDocument] = []
            for (name, slice) in slices + [(topology.outcomes, nil), (topology.dead, nil)] {
                let info = try await inspect(name, on: channel)
                queues.append(
                    QueueDocument(
                        queue: name, ready: info.messageCount, consumers: info.consumerCount, of: slice))
            }
            await channel.close()
            return QueueList(queues: queues)
        } catch {
            await channel.close()
            throw error
        }
    }

    private static func inspect(_ name: String, on channel: AMQPChannel) async throws -> AMQPQueueInfo {
        do throws(AMQPError) {
            return try await channel.declareQueue(AMQPQueueDeclaration(name: name, passive: true), record: false)
        } catch {
            guard error.code == .notFound else { throw AdminError.brokerAway(error) }
            throw AdminError.notFound("queue \(name) at the broker; sluice broker check says what is missing")
        }
    }
}
