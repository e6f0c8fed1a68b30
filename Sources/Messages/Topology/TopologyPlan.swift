package import AMQP
package import SyncModel

/// Every exchange, queue and binding of a cluster that outlives its processes, as processes declare them, as `sluice broker init`
/// makes them and as `sluice broker check` expects them. Pure.
package struct TopologyPlan: Sendable, Hashable {
    package struct Exchange: Sendable, Hashable {
        package var name: String
        package var type: AMQPExchangeType
        package var arguments: AMQPTable = [:]
    }

    /// A durable queue.
    package struct Queue: Sendable, Hashable {
        package var name: String
        package var arguments: AMQPTable

        package init(name: String, arguments: AMQPTable) {
            self.name = name
            self.arguments = arguments
        }

        package var declaration: AMQPQueueDeclaration {
            AMQPQueueDeclaration(name: name, durable: true, arguments: arguments)
        }
    }

    package struct Binding: Sendable, Hashable {
        package var exchange: String
        package var queue: String
        package var routingKey: String

        package init(exchange: String, queue: String, routingKey: String) {
            self.exchange = exchange
            self.queue = queue
            self.routingKey = routingKey
        }
    }

    package private(set) var exchanges: [Exchange]
    package private(set) var queues: [Queue]
    package private(set) var bindings: [Binding]

    /// - Parameter cluster: the id of the cluster whose mark belongs to the plan; nil: none.
    package init(_ topology: Topology, slices: SliceCount, cluster: String? = nil) {
        exchanges = [
            Exchange(name: topology.slices, type: .direct),
            Exchange(name: topology.terminations, type: .fanout),
            Exchange(name: topology.realms, type: .topic),
            Exchange(name: topology.outcomes, type: .direct),
            Exchange(name: topology.presence, type: .fanout),
            Exchange(name: topology.dead, type: .fanout),
            Exchange(name: topology.changes, type: .topic),
            Exchange(
                name: topology.events, type: .direct, arguments: ["alternate-exchange": .string(topology.dead)]),
        ]
        if let cluster { exchanges += BrokerMark(topology, cluster: cluster).exchanges }
        queues = [
            Queue(name: topology.dead, arguments: topology.deadQueueArguments),
            Queue(name: topology.outcomes, arguments: topology.ownedQueueArguments),
        ]
        bindings = [
            Binding(exchange: topology.dead, queue: topology.dead, routingKey: ""),
            Binding(exchange: topology.outcomes, queue: topology.outcomes, routingKey: ""),
        ]
        for number in slices.all {
            let queue = topology.slice(number)
            queues.append(Queue(name: queue, arguments: topology.ownedQueueArguments))
            for exchange in [topology.slices, topology.events] {
                bindings.append(Binding(exchange: exchange, queue: queue, routingKey: String(number.value)))
            }
            bindings.append(Binding(exchange: topology.terminations, queue: queue, routingKey: ""))
        }
    }
}
