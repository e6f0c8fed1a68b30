extension AMQPChannel {
    /// Publishes a message.
    ///
    /// With confirms, returns when the broker has taken responsibility for it; without, when it is written. While the
    /// connection is being recovered or blocked, or too many publishes of this channel await their confirms, the
    /// message waits its turn. A message is written at most once: whether to try again after `connectionLost` or
    /// `timeout` is the caller's choice, and may duplicate it. Cancelling the task does not take a message back.
    ///
    /// - Parameters:
    ///   - message: the message. A mandatory one without an id is given one.
    ///   - exchange: the exchange; empty for the default one, which routes to the queue named by the key.
    ///   - routingKey: what the exchange routes by.
    ///   - mandatory: whether a message that no queue takes fails as `unroutable`; needs confirms.
    ///   - timeout: how long all this may take; nil waits for ever.
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

    /// Publishes many messages, in order, and waits for all of them at once.
    ///
    /// - Returns: one entry for each message: nil if it went well, or why not, as `publish` would throw it.
    public func publish(
        batch: [(AMQPMessage, exchange: String, routingKey: String)], mandatory: Bool = false,
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
                    let prepared = try prepare(message, exchange, routingKey, mandatory)
                    publishes.append(
                        PendingPublish(
                            head: prepared.head, body: message.body, exchange: exchange, returnID: prepared.returnID,
                            deadline: deadline, completion: .batch(results, index)))
                } catch {
                    failures.append((index, error))
                }
            }
            // Before the rest is handed over: from then on the results belong to the connection's thread.
            for (index, error) in failures { results.resolve(index, error) }
            guard !publishes.isEmpty, !handle.link.inbox.push(.publishBatch(handle.id, publishes)) else { return }
            for publish in publishes { publish.resolve(.connectionClosed) }
        }
    }

    private func prepare(
        _ message: AMQPMessage, _ exchange: String, _ routingKey: String, _ mandatory: Bool
    ) throws(AMQPError) -> (head: [UInt8], returnID: String?) {
        var properties = message.properties
        if mandatory {
            guard confirms else {
                throw AMQPError(.invalidArgument, "expected a channel with confirms for a mandatory message")
            }
            // A return names its message by this alone.
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
