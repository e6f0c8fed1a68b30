import AMQP

/// How long a worker leaves a slice's queue alone after an attempt to consume it has failed.
///
/// RabbitMQ closes the whole connection when one of its queues has no process behind it any more, so every further
/// attempt interrupts the worker's other slices too. The pause therefore grows from one such failure to the next, to a
/// minute. Other failures concern the queue's own channel, and are repeated soon.
struct QueuePause: Sendable, Equatable {
    /// The reply code by which RabbitMQ says that it has failed itself (`internal-error`).
    private static let internalError = 541
    private static let longest = Duration.seconds(60)

    /// Failures of the broker itself in a row.
    private(set) var failures = 0

    /// Notes that the queue is consumed.
    mutating func consumed() { failures = 0 }

    /// Notes a failure.
    ///
    /// - Returns: the time to wait before the next attempt, and what an operator is to do about it, if anything.
    mutating func failed(_ error: any Error, queue: String, jitter: Double) -> (pause: Duration, advice: String?) {
        guard (error as? AMQPError)?.replyCode == Self.internalError else {
            failures = 0
            return (.milliseconds(200) + .milliseconds(400) * jitter, nil)
        }
        failures = min(failures + 1, 16)
        let pause = min(Self.longest, .seconds(1 << (failures - 1))) * (0.75 + 0.25 * jitter)
        let advice = """
            the broker fails whenever queue '\(queue)' is consumed, and takes the worker's connection with it; it is tried \
            ever more rarely, at last once a minute. If 'rabbitmqctl list_queues name state' says that \
            the queue is down and it does not come back, delete it with 'rabbitmqctl delete_queue \(queue)': workers \
            declare it again, and clients send again what was not acknowledged
            """
        return (pause, failures > 1 ? advice : nil)
    }
}
