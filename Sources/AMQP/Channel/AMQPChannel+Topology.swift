// Every declaration may be repeated: declaring what exists with the same arguments changes nothing. With `record`, the
// default, a declaration is made again whenever the channel is opened again, until it is undone on the same channel.
extension AMQPChannel {
    /// Declares an exchange.
    ///
    /// - Throws: `preconditionFailed` when it exists with other arguments, `accessRefused`, `timeout`, `connectionLost`, `closed`.
    public func declareExchange(
        _ name: String, type: AMQPExchangeType, durable: Bool = true, autoDelete: Bool = false, passive: Bool = false,
        arguments: AMQPTable = [:], record: Bool = true
    ) async throws(AMQPError) {
        let declaration = ExchangeDeclaration(
            name: name, type: type, durable: durable, autoDelete: autoDelete, passive: passive, arguments: arguments)
        _ = try await request(.declareExchange(declaration), record: record)
    }

    /// Deletes an exchange; one that does not exist is no error.
    public func deleteExchange(_ name: String) async throws(AMQPError) {
        _ = try await request(.deleteExchange(name), record: true)
    }

    /// Declares a queue.
    ///
    /// - Returns: the queue's name, and how many messages and consumers it has.
    /// - Throws: `preconditionFailed` when it exists with other arguments, `notFound` for a passive declaration of one that does
    ///   not, `resourceLocked` for another connection's exclusive queue, `accessRefused`, `timeout`, `connectionLost`,
    ///   `closed`.
    @discardableResult
    public func declareQueue(
        _ queue: AMQPQueueDeclaration, record: Bool = true
    ) async throws(AMQPError) -> AMQPQueueInfo {
        var queue = queue
        if queue.name.isEmpty, !queue.passive {
            // A name that the broker chooses would change with every reconnect, and bindings and consumers would be lost.
            let random = UInt64.random(in: 0 ... .max)
            queue.name = "anonymous.\(String(random, radix: 36)).\(handle.id.value)"
        }
        guard case .queue(let info) = try await request(.declareQueue(queue), record: record) else {
            throw AMQPError(.protocolError, "expected the queue's name in the answer to its declaration")
        }
        return info
    }

    /// Deletes a queue with its messages; one that does not exist is no error.
    ///
    /// - Returns: how many messages were deleted with it.
    @discardableResult
    public func deleteQueue(_ name: String) async throws(AMQPError) -> Int {
        try await count(.deleteQueue(name))
    }

    /// Deletes the messages of a queue, except those that are delivered and not acknowledged.
    ///
    /// - Returns: how many messages were deleted.
    @discardableResult
    public func purgeQueue(_ name: String) async throws(AMQPError) -> Int {
        try await count(.purgeQueue(name))
    }

    /// Lets messages flow from an exchange to a queue.
    ///
    /// - Throws: `notFound` when either does not exist.
    public func bindQueue(
        _ queue: String, exchange: String, routingKey: String, arguments: AMQPTable = [:], record: Bool = true
    ) async throws(AMQPError) {
        let binding = Binding(queue: queue, exchange: exchange, routingKey: routingKey, arguments: arguments)
        _ = try await request(.bindQueue(binding), record: record)
    }

    /// Undoes `bindQueue`; a binding that does not exist is no error.
    public func unbindQueue(
        _ queue: String, exchange: String, routingKey: String, arguments: AMQPTable = [:]
    ) async throws(AMQPError) {
        let binding = Binding(queue: queue, exchange: exchange, routingKey: routingKey, arguments: arguments)
        _ = try await request(.unbindQueue(binding), record: true)
    }

    private func count(_ operation: ChannelOperation) async throws(AMQPError) -> Int {
        guard case .count(let count) = try await request(operation, record: true) else { return 0 }
        return count
    }
}
