import Loops

extension AMQPChannel {
    /// Publishes a message.
    ///
    /// With confirms, returns when the broker has taken responsibility for the message; without, when the message is
    /// written. The message waits its turn while the connection is being recovered or blocked, or while too many publishes
    /// of this channel await their confirms. A message is written at most once: a caller that publishes it again after
    /// `connectionLost` or `timeout` may duplicate it. Cancelling the task does not take a message back.
    ///
    /// - Parameters:
    ///   - message: the message. A mandatory message without an id gets a new id.
    ///   - exchange: the exchange; empty for the default exchange, which routes to the queue named by the key.
    ///   - routingKey: the key that the exchange routes by.
    ///   - mandatory: whether a message that no queue takes fails as `unroutable`; needs confirms.
    ///   - timeout: how long the publish may take altogether; nil waits for ever.
    /// - Throws: `unroutable`, `nacked`, `notFound` for an exchange that does not exist, `connectionLost`,
    ///   `channelClosed`, `timeout`, `blocked`, `closed`, `invalidArgument`.
    public func publish(
        _ message: AMQPMessage, exchange: String, routingKey: String, mandatory: Bool = false,
        timeout: Duration? = .seconds(30)
    ) async throws(AMQPError) {
        let prepared = try prepare(message, exchange, routingKey, mandatory)
        let deadline = timeout.map { Monotonic.now().advanced(by: $0) } ?? .never
        // Unchecked, because this is the hot path: each publish is resolved in one place, `PendingPublish.resolve`.
        let error = await withUnsafeContinuation { continuation in
            let publish = PendingPublish(
                head: prepared.head, body: message.body, exchange: exchange, returnID: prepared.returnID,
                deadline: deadline, completion: .single(continuation))
            if !handle.link.inbox.push(.publish(handle.id, publish)) { publish.resolve(.connectionClosed) }
        }
        if let error { throw error }
    }

    /// Publishes messages in order and waits for all of them together.
    ///
    /// - Returns: for each message nil, or the error that publishing the message alone would throw.
    public func publish(
        batch: [(AMQPMessage, exchange: String, routingKey: String)], mandatory: Bool = false,
        timeout: Duration? = .seconds(30)
    ) async -> [AMQPError?] {
        await publish(batch: batch, isMandatory: { _ in mandatory }, timeout: timeout)
    }

    /// Publishes messages in order and waits for all of them together.
    ///
    /// - Parameter isMandatory: whether a message of the batch, by its place, fails as `unroutable` if no queue takes it.
    /// - Returns: for each message nil, or the error that publishing the message alone would throw.
    public func publish(
        batch: [(AMQPMessage, exchange: String, routingKey: String)], isMandatory: (Int) -> Bool,
        timeout: Duration? = .seconds(30)
    ) async -> [AMQPError?] {
        guard !batch.isEmpty else { return [] }
        let deadline = timeout.map { Monotonic.now().advanced(by: $0) } ?? .never
        return await withUnsafeContinuation { continuation in
            let results = PublishBatch(count: batch.count, continuation)
            var publishes: [PendingPublish] = []
            var failures: [(Int, AMQPError)] = []
            publishes.reserveCapacity(batch.count)
            for (index, (message, exchange, routingKey)) in batch.enumerated() {
                do throws(AMQPError) {
                    let prepared = try prepare(message, exchange, routingKey, isMandatory(index))
                    publishes.append(
                        PendingPublish(
                            head: prepared.head, body: message.body, exchange: exchange, returnID: prepared.returnID,
                            deadline: deadline, completion: .batch(results, index)))
                } catch {
                    failures.append((index, error))
                }
            }
            // Resolve these before the rest is handed over: from then on the results belong to the connection's thread.
            for (index, error) in failures { results.resolve(index, error) }
            guard !publishes.isEmpty, !handle.link.inbox.push(.publishBatch(handle.id, publishes)) else { return }
            for publish in publishes { publish.resolve(.connectionClosed) }
        }
    }

    private func prepare(
        _ message: AMQPMessage, _ exchange: String, _ routingKey: String, _ mandatory: Bool
    ) throws(AMQPError) -> (head: [UInt8], returnID: String?) {
        var properties = message.properties
        let limit = handle.link.configuration.maxPublishBytes
        guard message.body.count <= limit else {
            throw AMQPError(
                .invalidArgument,
                "a \(message.properties.type ?? "?") message of \(message.body.count) bytes for exchange \"\(exchange)\", key"
                    + " \"\(routingKey)\": expected at most \(limit), which is what brokers take; publish less at once")
        }
        if mandatory {
            guard confirms else {
                throw AMQPError(.invalidArgument, "expected a channel with confirms for a mandatory message")
            }
            // The broker's return names its message by the id alone.
            if properties.messageID == nil {
                properties.messageID = "\(String(UInt64.random(in: 0 ... .max), radix: 36))-\(handle.link.makeID())"
            }
        }
        let head = try MessageHead.encode(
            properties, bodyBytes: message.body.count, exchange: exchange, routingKey: routingKey, mandatory: mandatory,
            channel: number, frameMax: handle.link.frameMax)
        return (head, mandatory ? properties.messageID : nil)
    }
}
