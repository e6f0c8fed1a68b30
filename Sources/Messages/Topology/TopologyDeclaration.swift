package import AMQP
package import SyncModel

/// Sees to it that everything of a plan is at the broker: declares it, and where the user may not, checks that others have.
///
/// RabbitMQ asks for the right to configure an exchange or a queue also where a declaration would change nothing. A process whose user
/// has no more rights than its role needs therefore only asks whether the exchanges and queues exist. Bindings cannot be asked for;
/// `sluice broker check` looks at them.
struct TopologyDeclaration {
    let plan: TopologyPlan
    /// How many missing names an error has at most.
    private static let maxNames = 3

    /// - Throws: `MissingTopology`; what the broker throws otherwise.
    func make(on channel: AMQPChannel) async throws {
        guard let refusal = try await declare(on: channel) else { return }
        var missing: [String] = []
        for exchange in plan.exchanges where missing.count < Self.maxNames {
            let error = try await AMQPError.refusal(.notFound) { () throws(AMQPError) in
                try await channel.declareExchange(exchange.name, type: exchange.type, passive: true, record: false)
            }
            if error != nil { missing.append("exchange \(exchange.name)") }
        }
        for queue in plan.queues where missing.count < Self.maxNames {
            let error = try await AMQPError.refusal(.notFound) { () throws(AMQPError) in
                try await channel.declareQueue(AMQPQueueDeclaration(name: queue.name, passive: true), record: false)
            }
            if error != nil { missing.append("queue \(queue.name)") }
        }
        guard missing.isEmpty else { throw MissingTopology(missing, refusal) }
    }

    /// - Returns: the broker's refusal, if the user may not declare something of the plan.
    private func declare(on channel: AMQPChannel) async throws(AMQPError) -> AMQPError? {
        try await AMQPError.refusal(.accessRefused) { () throws(AMQPError) in
            for exchange in plan.exchanges {
                try await channel.declareExchange(exchange.name, type: exchange.type, arguments: exchange.arguments)
            }
            for queue in plan.queues { try await channel.declareQueue(queue.declaration) }
            for binding in plan.bindings {
                try await channel.bindQueue(
                    binding.queue, exchange: binding.exchange, routingKey: binding.routingKey)
            }
        }
    }
}

extension AMQPError {
    /// Asks the broker for something; returns its refusal if that is of a certain kind, and throws any other.
    static func refusal(
        _ code: Code, _ ask: () async throws(AMQPError) -> Void
    ) async throws(AMQPError) -> AMQPError? {
        do {
            try await ask()
            return nil
        } catch {
            guard error.code == code else { throw error }
            return error
        }
    }
}

/// Something of the cluster is not at the broker, and the process may not make it.
package struct MissingTopology: Error, CustomStringConvertible, Sendable {
    package let description: String

    /// - Parameters:
    ///   - names: what is missing, each with its kind.
    ///   - refusal: what the broker said when it was asked to make it.
    init(_ names: [String], _ refusal: AMQPError) {
        description = """
            the broker has no \(names.joined(separator: ", no ")), and does not let this process's user make what is missing \
            (\(refusal.message)): run sluice broker init with the same amqp.prefix, slices and virtual host, or see that \
            these settings are right
            """
    }
}

extension Topology {
    /// Declares everything that outlives processes. Any process may do so, any number of times; one whose user may not finds out
    /// whether everything is there.
    ///
    /// - Throws: `MissingTopology`; what the broker throws.
    package func declareShared(on channel: AMQPChannel, slices count: SliceCount) async throws {
        try await TopologyDeclaration(plan: TopologyPlan(self, slices: count)).make(on: channel)
    }

    /// Declares the exchange of the workers' heartbeats, for a channel that binds to it: then it is there whenever the channel is
    /// opened again. A user that may not declare it goes without.
    package func declarePresence(on channel: AMQPChannel) async throws(AMQPError) {
        _ = try await AMQPError.refusal(.accessRefused) { () throws(AMQPError) in
            try await channel.declareExchange(presence, type: .fanout)
        }
    }
}
