import AMQP
import Storage
import SyncModel

@testable import Worker

extension SliceOwner {
    /// Deals with messages in their order and with nothing else, whosever turn it is. What they change is durable when this returns.
    ///
    /// - Returns: what to publish before the messages are acknowledged.
    func process(_ messages: [AMQPMessage]) async throws -> [Publication] {
        let deliveries = read(messages)
        return try await withWork { work in
            try await work.publishLeftovers()
            try await work.read(ahead: deliveries)
            var handler = MessageHandler(work: work)
            for delivery in deliveries {
                // There is nobody here whom a message that waits for steps could let go first.
                while try await !handler.take(delivery) {
                    try await work.flush()
                    guard try await SliceJobs(work: work).goOneRound() else {
                        throw WorkerError(.busy, "slice \(slice) has a message that waits for nothing")
                    }
                }
            }
        }
    }
}
