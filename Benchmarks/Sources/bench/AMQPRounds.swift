import AMQP
import CBareAMQP
import Dispatch
import Foundation
import Logging

/// One queue, and what our client and the bare library do with it. Every measurement is in messages a second.
struct AMQPRounds {
    private let connection: AMQPConnection
    private let publishing: AMQPChannel
    private let queue: String
    private let messages: Int
    private let window: Int
    private let prefetch: Int
    private let batch: Int

    init(
        _ configuration: AMQPConfiguration, messages: Int, window: Int, prefetch: Int, batch: Int
    ) async throws {
        self.messages = messages
        self.window = window
        self.prefetch = prefetch
        self.batch = batch
        queue = "bench.amqp.\(UInt32.random(in: 0 ... .max))"
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        connection = AMQPConnection(configuration: configuration, logger: logger)
        try await connection.start()
        publishing = try await connection.openChannel(confirms: true)
        try await publishing.declareQueue(AMQPQueueDeclaration(name: queue, arguments: ["x-queue-type": "quorum"]))
    }

    func finish() async throws {
        try await publishing.deleteQueue(queue)
        await connection.close()
    }

    /// Four tasks share the window, each awaiting a batch before its next one.
    func publish(bytes: Int) async throws -> Double {
        let message = AMQPMessage(body: Array(repeating: UInt8(ascii: "x"), count: bytes))
        let tasks = 4
        let size = max(1, window / tasks)
        let (publishing, queue, messages) = (publishing, queue, messages)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var left = messages / tasks + (task < messages % tasks ? 1 : 0)
                    while left > 0 {
                        let batch = Array(
                            repeating: (message, exchange: "", routingKey: queue), count: min(size, left))
                        for error in await publishing.publish(batch: batch) { if let error { throw error } }
                        left -= batch.count
                    }
                }
            }
            try await group.waitForAll()
        }
        return rate(start.duration(to: .now).milliseconds / 1_000)
    }

    func consume() async throws -> Double {
        let channel = try await connection.openChannel(prefetch: prefetch)
        let start = ContinuousClock.now
        let consumer = try await channel.consume(queue: queue)
        var left = messages
        while left > 0, let deliveries = try await consumer.nextBatch(max: batch), let last = deliveries.last {
            left -= deliveries.count
            try await consumer.ack(upTo: last)
        }
        let seconds = start.duration(to: .now).milliseconds / 1_000
        await channel.close()
        try await requireEmpty()
        return rate(seconds)
    }

    func barePublish(bytes: Int) async throws -> Double {
        rate(
            try await bare { [messages, window] in bare_amqp_publish($0, Int32(messages), Int32(bytes), Int32(window)) }
        )
    }

    func bareConsume() async throws -> Double {
        let seconds = try await bare { [messages, prefetch, batch] in
            bare_amqp_consume($0, Int32(messages), Int32(prefetch), Int32(batch))
        }
        try await requireEmpty()
        return rate(seconds)
    }

    private func rate(_ seconds: Double) -> Double { Double(messages) / seconds }

    private func requireEmpty() async throws {
        let left = try await publishing.declareQueue(AMQPQueueDeclaration(name: queue, passive: true)).messageCount
        guard left == 0 else { throw BenchFailure("\(left) messages are left that should have been consumed") }
    }

    /// Runs the library's calls, which block, off the cooperative threads.
    private func bare(
        _ body: @escaping @Sendable (UnsafePointer<bare_amqp_target_t>) -> Double
    ) async throws -> Double {
        let configuration = connection.configuration
        guard case .plain(let user, let password) = configuration.credentials, configuration.tls == nil,
            let endpoint = configuration.endpoints.first
        else { throw BenchFailure("the bare library is measured with a password, without TLS") }
        let texts = [endpoint.host, user, password, configuration.virtualHost, queue]
        let port = Int32(endpoint.port)
        let seconds = await withCheckedContinuation { (continuation: CheckedContinuation<Double, Never>) in
            DispatchQueue.global().async {
                let copies: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
                var target = bare_amqp_target_t(
                    host: UnsafePointer(copies[0]), port: port, user: UnsafePointer(copies[1]),
                    password: UnsafePointer(copies[2]), virtual_host: UnsafePointer(copies[3]),
                    queue: UnsafePointer(copies[4]))
                let seconds = body(&target)
                for copy in copies { free(copy) }
                continuation.resume(returning: seconds)
            }
        }
        guard seconds > 0 else { throw BenchFailure("the bare library failed") }
        return seconds
    }
}
