package import AMQP
package import Messages
package import Storage
package import SyncModel

/// Examines the broker through AMQP alone, with the credentials of the settings.
package struct BrokerDoctor: Sendable {
    let connection: AMQPConnection
    /// A separate connection for publishing: during an alarm a broker stops reading from a connection that has published.
    let publisher: AMQPConnection
    let topology: Topology
    let slices: SliceCount
    /// How long the broker may take to confirm a message.
    let patience: Duration

    package init(
        connection: AMQPConnection, publisher: AMQPConnection, topology: Topology, slices: SliceCount,
        patience: Duration = .seconds(5)
    ) {
        self.connection = connection
        self.publisher = publisher
        self.topology = topology
        self.slices = slices
        self.patience = patience
    }

    package func examine() async -> [Diagnosis] {
        var found = [await publishing()]
        if found.exitCode == 0 {
            found.append(await permissions())
        } else {
            found.add(.broker, "permissions", .unchecked, "nothing can be published", "mend publishing first")
        }
        return found + (await objects())
    }

    /// Checks the exchanges and queues, as far as AMQP tells of them.
    package func objects() async -> [Diagnosis] { await exchanges() + (await queues()) }

    // MARK: The cluster

    /// Says whether the broker belongs to the cluster whose store there is.
    package func belonging(to cluster: ClusterRecord) async -> Diagnosis {
        do {
            let advice =
                "see that store.url, amqp.url and amqp.prefix are one cluster's; else sluice store adopt --broker"
            switch try await BrokerMark(topology, cluster: cluster.id).find(on: connection) {
            case .own: return Diagnosis(.broker, "cluster", .ok, "cluster \(cluster.id), as the store")
            case .none where cluster.hasMarkedBroker:
                return Diagnosis(
                    .broker, "cluster", .fault,
                    "the broker has no exchange \(topology.cluster), which cluster \(cluster.id) has made", advice)
            case .none:
                return Diagnosis(.broker, "cluster", .ok, "a new one: cluster \(cluster.id) has not used it yet")
            case .unproven:
                return Diagnosis(
                    .broker, "cluster", .fault,
                    "the broker bears a cluster's mark, and nothing says that it is that of cluster \(cluster.id)",
                    "sluice broker init compares it, and makes what is missing")
            case .foreign(let other):
                return Diagnosis(
                    .broker, "cluster", .fault,
                    "the broker belongs to \(other.map { "cluster \($0)" } ?? "another cluster"), the store to \(cluster.id)",
                    advice)
            }
        } catch {
            return Diagnosis(.broker, "cluster", .unchecked, "\(error)", "mend the connection first")
        }
    }

    // MARK: Alarms

    /// Checks that the broker takes messages. During an alarm a broker accepts connections and declarations, but no messages.
    private func publishing() async -> Diagnosis {
        do {
            let channel = try await publisher.openChannel(confirms: true)
            let queue = try await channel.declareQueue(
                AMQPQueueDeclaration(name: "", durable: false, exclusive: true, autoDelete: true)
            ).name
            let start = ContinuousClock.now
            try await channel.publish(
                AMQPMessage(body: "doctor"), exchange: "", routingKey: queue, mandatory: true, timeout: patience)
            let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
            await channel.close()
            return Diagnosis(.broker, "publishing", .ok, "a message was confirmed after \(milliseconds) ms")
        } catch {
            if case .blocked(let reason) = publisher.state {
                return Diagnosis(
                    .broker, "publishing", .fault, "the broker is in an alarm and takes no messages: \(reason)",
                    "make room on the broker's machine (rabbitmq-diagnostics alarms says which node); nothing is lost")
            }
            let advice =
                error.code == .accessRefused
                ? "allow the user to configure, write and read: rabbitmqctl set_permissions"
                : "see the broker's log; rabbitmq-diagnostics alarms says whether it is short of memory or disk"
            return Diagnosis(.broker, "publishing", .fault, "\(error)", advice)
        }
    }

    // MARK: Permissions

    /// Checks the user's permissions by doing what the cluster does, with a queue of the doctor's own.
    private func permissions() async -> Diagnosis {
        let advice =
            "rabbitmqctl set_permissions -p <vhost> <user> '^\(topology.prefix)\\..*|^anonymous\\..*' '.*' '.*'"
        let queue = "\(topology.prefix).doctor.\(UInt64.random(in: 0 ... .max))"
        do {
            let channel = try await publisher.openChannel(confirms: true)
            try await channel.declareQueue(
                AMQPQueueDeclaration(name: queue, durable: false, exclusive: true, autoDelete: true))
            try await channel.bindQueue(queue, exchange: topology.realms, routingKey: "sluice.doctor")
            // These keys lead to no queue: only the permission to publish is checked.
            for exchange in [topology.slices, topology.outcomes] {
                try await channel.publish(
                    AMQPMessage(body: "doctor"), exchange: exchange, routingKey: "sluice.doctor", mandatory: false,
                    timeout: patience)
            }
            try await channel.publish(
                AMQPMessage(body: "doctor"), exchange: topology.realms, routingKey: "sluice.doctor", mandatory: true,
                timeout: patience)
            guard let delivery = try await channel.get(queue: queue) else {
                return Diagnosis(
                    .broker, "permissions", .warning, "a message through \(topology.realms) did not arrive",
                    "see the broker's log")
            }
            try await delivery.ack()
            await channel.close()
            return Diagnosis(.broker, "permissions", .ok, "may configure, write and read")
        } catch {
            switch error.code {
            case .accessRefused: return Diagnosis(.broker, "permissions", .fault, "\(error)", advice)
            case .notFound:
                return Diagnosis(
                    .broker, "permissions", .unchecked, "the exchanges are not there yet", "start the cluster first")
            default: return Diagnosis(.broker, "permissions", .unchecked, "\(error)", "mend publishing first")
            }
        }
    }

    // MARK: Topology

    private var plan: TopologyPlan { TopologyPlan(topology, slices: slices) }

    private func exchanges() async -> [Diagnosis] {
        let wanted = plan.exchanges
        var found: [Diagnosis] = []
        for exchange in wanted {
            let problem = await declared(exchange.name) { channel, passive throws(AMQPError) in
                try await channel.declareExchange(
                    exchange.name, type: exchange.type, passive: passive, arguments: exchange.arguments, record: false)
            }
            if let problem { found.append(problem) }
        }
        if found.isEmpty { found.add(.broker, "exchanges", .ok, "\(wanted.count) as declared") }
        return found
    }

    private func queues() async -> [Diagnosis] {
        let wanted = plan.queues.map(\.declaration)
        var found: [Diagnosis] = []
        var idle: [String] = []
        var deadLetters = 0
        for queue in wanted {
            var info: AMQPQueueInfo?
            let problem = await declared(queue.name) { channel, passive throws(AMQPError) in
                var queue = queue
                queue.passive = passive
                if passive { queue.arguments = [:] }
                info = try await channel.declareQueue(queue, record: false)
            }
            if let problem { found.append(problem) }
            guard let info else { continue }
            if queue.name == topology.dead {
                deadLetters = info.messageCount
            } else if info.consumerCount == 0 {
                idle.append("\(queue.name) (\(info.messageCount) waiting)")
            }
        }
        if found.isEmpty { found.add(.broker, "queues", .ok, "\(wanted.count) as declared") }
        if !idle.isEmpty {
            found.add(
                .broker, "consumers", .fault, "nobody consumes \(Self.some(idle))",
                "start a worker for slices, a coordinator for outcomes")
        }
        if deadLetters == 0 {
            found.add(.broker, "dead letters", .ok, "none")
        } else {
            found.add(
                .broker, "dead letters", .warning, "\(deadLetters.counted("message")) that nobody could use",
                "sluice dead-letters list")
        }
        return found
    }

    /// Checks that a queue or exchange exists, and that it has the arguments with which Sluice declares it. Creates nothing.
    ///
    /// - Returns: what is wrong; nil if nothing is.
    private func declared(
        _ name: String, _ declare: (_ channel: AMQPChannel, _ passive: Bool) async throws(AMQPError) -> Void
    ) async -> Diagnosis? {
        do {
            // A failed check closes its channel, so each check has a channel of its own.
            let channel = try await connection.openChannel()
            try await declare(channel, true)
            try await declare(channel, false)
            await channel.close()
            return nil
        } catch {
            switch error.code {
            case .notFound:
                return Diagnosis(
                    .broker, name, .fault, "\(name) does not exist",
                    "sluice broker init makes it, or a process whose user may; see that prefix and virtual host are right"
                )
            case .preconditionFailed:
                return Diagnosis(
                    .broker, name, .fault, "\(name) is declared otherwise: \(error)",
                    "stop the cluster; when it is empty delete it, and start the cluster, which declares it again")
            // The queue or exchange is there, and a user with the rights of a role may not compare its arguments.
            case .accessRefused: return nil
            default: return Diagnosis(.broker, name, .fault, "\(error)", "see the broker's log")
            }
        }
    }

    static func some(_ names: [String]) -> String {
        names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
    }
}
