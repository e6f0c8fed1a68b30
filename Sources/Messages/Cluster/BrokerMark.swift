package import AMQP

/// The mark that a broker bears of the cluster whose queues it keeps: an exchange through which nothing is ever published, and
/// whose argument `alternate-exchange` names the cluster. The broker compares that argument with each declaration's, and refuses
/// another cluster's (406).
package struct BrokerMark: Sendable, Hashable {
    package enum Finding: Sendable, Equatable {
        case none, own
        /// Of this cluster, as far as the broker says which.
        case foreign(String?)
    }

    let exchange: String
    let cluster: String

    /// - Parameter cluster: its id.
    package init(_ topology: Topology, cluster: String) {
        exchange = topology.cluster
        self.cluster = cluster
    }

    private var arguments: AMQPTable { ["alternate-exchange": .string("\(exchange).\(cluster)")] }

    /// Says whose mark the broker bears; makes none.
    package func find(on connection: AMQPConnection) async throws(AMQPError) -> Finding {
        do {
            // A declaration that is refused closes its channel, so this has channels of its own.
            let channel = try await connection.openChannel()
            try await channel.declareExchange(exchange, type: .fanout, passive: true, record: false)
            try await channel.declareExchange(exchange, type: .fanout, arguments: arguments, record: false)
            await channel.close()
            return .own
        } catch {
            switch error.code {
            case .notFound: return .none
            case .preconditionFailed: return .foreign(cluster(namedIn: error.message))
            default: throw error
            }
        }
    }

    /// Makes the mark, and again whenever the channel is opened again.
    package func make(on channel: AMQPChannel) async throws(AMQPError) {
        try await channel.declareExchange(exchange, type: .fanout, arguments: arguments)
    }

    /// Has the broker bear this mark instead of another's.
    package func replace(on channel: AMQPChannel) async throws(AMQPError) {
        try await channel.deleteExchange(exchange)
        try await make(on: channel)
    }

    /// From `inequivalent arg 'alternate-exchange' for exchange ...: received the value '...' ... but current is the value '...'`.
    /// Nil where the names are so long that the broker, which cuts its words at 255 bytes, does not come to the second one.
    private func cluster(namedIn message: String) -> String? {
        guard let start = message.ranges(of: "\(exchange).").last?.upperBound else { return nil }
        let id = message[start...].prefix { $0.isHexDigit }
        return id.isEmpty || id == cluster ? nil : String(id)
    }
}
