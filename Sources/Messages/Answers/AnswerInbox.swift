package import AMQP
import SyncModel

/// A queue of the process's own to which owners answer events, and those in the process who wait for answers.
package actor AnswerInbox {
    /// The answer to an event.
    package enum Answer: Sendable, Equatable {
        case written(WrittenAnswer)
        case refused(WriteRefusedAnswer)
    }

    /// Why nobody knows what became of an event. The event may be written all the same: it can be published again with the same id.
    package enum Failure: Error, Equatable {
        case timeout
        case connectionLost
        case tooManyWaiting
        case unreadable(String)
    }

    /// The broker's name for the queue: what events have as `reply-to`.
    package nonisolated let queue: String
    private let consumer: AMQPConsumer
    private let channel: AMQPChannel
    private var waiting: [String: CheckedContinuation<Answer, any Error>] = [:]
    private var isClosed = false

    /// Events that are waited for at once.
    static let maxWaiting = 1_000

    private init(queue: String, consumer: AMQPConsumer, channel: AMQPChannel) {
        self.queue = queue
        self.consumer = consumer
        self.channel = channel
    }

    package static func open(on connection: AMQPConnection) async throws(AMQPError) -> AnswerInbox {
        let channel = try await connection.openChannel(prefetch: 100)
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, autoDelete: true,
                arguments: ["x-max-length": .int(Int64(maxWaiting)), "x-overflow": "drop-head"]))
        let consumer = try await channel.consume(queue: queue.name, exclusive: true)
        return AnswerInbox(queue: queue.name, consumer: consumer, channel: channel)
    }

    /// Hands answers to those who wait for them, until the queue is gone.
    package func run() async throws {
        defer {
            isClosed = true
            for (_, continuation) in waiting { continuation.resume(throwing: Failure.connectionLost) }
            waiting = [:]
        }
        while let batch = try await consumer.nextBatch(max: 100) {
            for delivery in batch { hear(delivery.message) }
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
    }

    package func close() async { await channel.close() }

    /// Publishes an event and waits for its answer.
    ///
    /// - Parameters:
    ///   - id: the event's correlation id.
    ///   - publish: publishes the event with `queue` as its `reply-to`.
    /// - Throws: `Failure`, and what `publish` throws.
    package func ask(
        _ id: String, within patience: Duration, publish: @escaping @Sendable () async throws -> Void
    ) async throws -> Answer {
        guard !isClosed else { throw Failure.connectionLost }
        guard waiting.count < Self.maxWaiting, waiting[id] == nil else { throw Failure.tooManyWaiting }
        let publishing = Task {
            do {
                try await publish()
                try await Task.sleep(for: patience)
                end(id, .failure(Failure.timeout))
            } catch {
                // Cancelled: whoever asked has been answered, and may have asked again with the same id.
                if !Task.isCancelled { end(id, .failure(error)) }
            }
        }
        defer { publishing.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting[id] = $0 }
        } onCancel: {
            Task { await end(id, .failure(CancellationError())) }
        }
    }

    private func end(_ id: String, _ result: Result<Answer, any Error>) {
        waiting.removeValue(forKey: id)?.resume(with: result)
    }

    private func hear(_ message: AMQPMessage) {
        guard let id = message.properties.correlationID else { return }
        end(
            id,
            Result {
                do {
                    switch message.properties.type {
                    case WrittenAnswer.type: return .written(try message.decode(WrittenAnswer.self))
                    case WriteRefusedAnswer.type: return .refused(try message.decode(WriteRefusedAnswer.self))
                    case let other: throw Failure.unreadable("an answer of type \(other ?? "none")")
                    }
                } catch let error as MessageError {
                    throw Failure.unreadable("\(error)")
                }
            })
    }
}

extension AnswerInbox.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .timeout: "no answer in time"
        case .connectionLost: "the connection to the broker was lost"
        case .tooManyWaiting: "too many events are waited for"
        case .unreadable(let what): "the answer cannot be read: \(what)"
        }
    }
}
