package import AMQP

/// The mark that a broker bears of the cluster whose queues it keeps: two exchanges through which nothing is ever published.
///
/// The first one's argument `alternate-exchange` names the cluster. The broker compares that argument with each declaration's, and
/// refuses another cluster's (406). To declare it a user needs the right to configure it; one without that right asks for the second
/// exchange, whose name ends with the cluster's id.
package struct BrokerMark: Sendable, Hashable {
    package enum Finding: Sendable, Equatable {
        case none, own
        /// The mark of another cluster; its id, as far as the broker says it.
        case foreign(String?)
        /// There is a mark, and nothing says that it is this cluster's; this user may not compare it.
        case unproven
    }

    let exchange: String
    let cluster: String

    /// - Parameter cluster: its id.
    package init(_ topology: Topology, cluster: String) {
        exchange = topology.cluster
        self.cluster = cluster
    }

    /// The exchange whose existence says that the mark is this cluster's.
    package var proof: String { "\(exchange).\(cluster)" }

    package var exchanges: [TopologyPlan.Exchange] {
        [
            TopologyPlan.Exchange(
                name: exchange, type: .fanout, arguments: ["alternate-exchange": .string(proof)]),
            TopologyPlan.Exchange(name: proof, type: .fanout),
        ]
    }

    /// Says whose mark the broker bears; makes none.
    package func find(on connection: AMQPConnection) async throws(AMQPError) -> Finding {
        do {
            // A declaration that is refused closes its channel, so this has channels of its own.
            let channel = try await connection.openChannel()
            try await channel.declareExchange(exchange, type: .fanout, passive: true, record: false)
            try await channel.declareExchange(
                exchange, type: .fanout, arguments: exchanges[0].arguments, record: false)
            await channel.close()
            return .own
        } catch {
            switch error.code {
            case .notFound: return .none
            case .preconditionFailed: return .foreign(cluster(namedIn: error.message))
            case .accessRefused: return try await findProof(on: connection)
            default: throw error
            }
        }
    }

    private func findProof(on connection: AMQPConnection) async throws(AMQPError) -> Finding {
        let missing = try await AMQPError.refusal(.notFound) { () throws(AMQPError) in
            let channel = try await connection.openChannel()
            try await channel.declareExchange(proof, type: .fanout, passive: true, record: false)
            await channel.close()
        }
        return missing == nil ? .own : .unproven
    }

    /// Makes the mark, and again whenever the channel is opened again.
    package func make(on channel: AMQPChannel) async throws(AMQPError) {
        for exchange in exchanges {
            try await channel.declareExchange(exchange.name, type: exchange.type, arguments: exchange.arguments)
        }
    }

    /// Has the broker bear this mark instead of another's.
    package func replace(on channel: AMQPChannel) async throws(AMQPError) {
        if case .foreign(let other?) = try await find(on: channel.connection) {
            try await channel.deleteExchange("\(exchange).\(other)")
        }
        try await channel.deleteExchange(exchange)
        try await make(on: channel)
    }

    /// Reads the other cluster's id from the broker's words: `inequivalent arg 'alternate-exchange' for exchange ...:
    /// received the value '...' ... but current is the value '...'`. Nil where the names are so long that the broker,
    /// which cuts its words at 255 bytes, does not come to the second one.
    private func cluster(namedIn message: String) -> String? {
        guard let start = message.ranges(of: "\(exchange).").last?.upperBound else { return nil }
        let id = message[start...].prefix { $0.isHexDigit }
        return id.isEmpty || id == cluster ? nil : String(id)
    }
}
