import AMQP
import Messages
import SyncModel

/// Compares what is at the broker with what a cluster needs there. Pure.
package struct BrokerExamination: Sendable {
    let plan: BrokerPlan
    let facts: BrokerFacts

    package init(plan: BrokerPlan, facts: BrokerFacts) {
        self.plan = plan
        self.facts = facts
    }

    /// Everything there is to say.
    package func diagnoses() -> [Diagnosis] {
        var found = broker()
        guard let host = facts.host else {
            found.add(
                .broker, "virtual host", .fault,
                "there is no virtual host \(plan.virtualHost), or this user may not see it",
                "sluice broker init makes it")
            return found
        }
        found += [mark(in: host)] + exchanges(in: host) + queues(in: host) + [bindings(in: host)]
        found += policies(in: host) + replicas(in: host) + strangers(in: host)
        found += BrokerUsersExamination(plan: plan, accounts: facts.accounts).diagnoses()
        found.add(
            .broker, "consumer timeout", .unchecked, "the plugin does not tell it",
            "rabbitmqctl environment | grep consumer_timeout: expected 30 minutes, the default, or more")
        return found
    }

    // MARK: The broker as a whole

    /// The version, the nodes and what they need: what does not depend on a cluster.
    package func broker() -> [Diagnosis] { [version()] + flags() + nodes() }

    private func version() -> Diagnosis {
        let parts = facts.version.split(separator: ".").compactMap { Int($0.prefix { $0.isNumber }) }
        guard let major = parts.first, parts.count > 1 else {
            return Diagnosis(.broker, "version", .unchecked, "it says \"\(facts.version)\"", "see that it is RabbitMQ")
        }
        if (major, parts[1]) < (3, 10) {
            return Diagnosis(
                .broker, "version", .fault, "RabbitMQ \(facts.version)",
                "Sluice needs 3.10 or newer, for its quorum queues")
        }
        return Diagnosis(.broker, "version", .ok, "RabbitMQ \(facts.version)")
    }

    /// What dead-lettering at least once rests on; versions from 3.13 on have it always.
    private func flags() -> [Diagnosis] {
        ["quorum_queue", "stream_queue"].compactMap { name in
            guard let flag = facts.featureFlags.first(where: { $0.name == name }), flag.state != "enabled" else {
                return nil
            }
            return Diagnosis(
                .broker, "feature flag \(name)", .fault, "it is \(flag.state)",
                "rabbitmqctl enable_feature_flag \(name): without it poison messages are lost instead of set aside")
        }
    }

    private func nodes() -> [Diagnosis] {
        var found: [Diagnosis] = []
        for node in facts.nodes {
            if !node.running { found.add(.broker, node.name, .warning, "the node is down", "start it") }
            if node.mem_alarm == true {
                found.add(
                    .broker, node.name, .fault, "memory alarm: nothing can be published",
                    "give it memory, or find what fills its queues")
            }
            if node.disk_free_alarm == true {
                found.add(.broker, node.name, .fault, "disk alarm: nothing can be published", "make room on its disk")
            }
            if let others = node.partitions, !others.isEmpty {
                found.add(
                    .broker, node.name, .fault, "cut off from \(others.joined(separator: ", "))",
                    "mend the network, then restart the minority's nodes")
            }
        }
        let count = facts.nodes.count
        if count % 2 == 0 {
            found.add(
                .broker, "nodes", .warning,
                "\(count.counted("node survives", "nodes survive")) no more lost ones than \(count - 1)",
                "run an odd number of nodes: three")
        }
        if found.isEmpty {
            found.add(
                .broker, "nodes", .ok,
                count == 1 ? "1 running, no alarm; three would survive the loss of one" : "\(count) running, no alarm")
        }
        return found
    }

    // MARK: Exchanges, queues, bindings

    private func mark(in host: BrokerFacts.VirtualHost) -> Diagnosis {
        guard let cluster = plan.cluster else {
            return Diagnosis(
                .broker, "cluster", .unchecked, "the store says of no cluster yet",
                "--cluster ID, or a store.url that this shell can read")
        }
        let mark = BrokerMark(plan.topology, cluster: cluster)
        guard let exchange = host.exchanges.first(where: { $0.name == plan.topology.cluster }) else {
            return Diagnosis(
                .broker, "cluster", .fault, "the broker has no exchange \(plan.topology.cluster)",
                "sluice broker init makes it, where the broker is new")
        }
        let borne = exchange.arguments.values["alternate-exchange"]?.stringValue ?? ""
        guard borne == mark.proof else {
            return Diagnosis(
                .broker, "cluster", .fault,
                "the broker belongs to cluster \(borne.split(separator: ".").last ?? "?"), the store to \(cluster)",
                "see that store.url, amqp.url and amqp.prefix are one cluster's; else sluice store adopt --broker")
        }
        return Diagnosis(.broker, "cluster", .ok, "cluster \(cluster)")
    }

    /// The things that are there under a name of the plan and are something else, so that the cluster cannot use it.
    package func conflicts() -> [Diagnosis] {
        guard let host = facts.host else { return [] }
        let marked = host.exchanges.contains { $0.name == plan.topology.cluster }
        let found = (marked ? [mark(in: host)] : []) + exchanges(in: host) + queues(in: host)
        return found.filter { $0.level == .fault && $0.finding != Self.missing }
    }

    private static let missing = "does not exist"

    private func exchanges(in host: BrokerFacts.VirtualHost) -> [Diagnosis] {
        let there = Dictionary(host.exchanges.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var found: [Diagnosis] = []
        for wanted in plan.objects.exchanges {
            // What the mark says is a matter of its own.
            let isMark = wanted.name == plan.topology.cluster
            guard let exchange = there[wanted.name] else {
                if !isMark { found.append(missing("exchange \(wanted.name)")) }
                continue
            }
            var differences: [String] = []
            if exchange.type != wanted.type.rawValue {
                differences.append("it is a \(exchange.type) exchange; expected \(wanted.type.rawValue)")
            }
            if !exchange.durable || exchange.auto_delete { differences.append("it does not outlive a restart") }
            if !isMark { differences += Self.differences(exchange.arguments.values, wanted.arguments) }
            if !differences.isEmpty { found.append(other("exchange \(wanted.name)", differences)) }
        }
        if found.isEmpty { found.add(.broker, "exchanges", .ok, "\(plan.objects.exchanges.count) as declared") }
        return found
    }

    private func queues(in host: BrokerFacts.VirtualHost) -> [Diagnosis] {
        let there = Dictionary(host.queues.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var found: [Diagnosis] = []
        for wanted in plan.objects.queues {
            guard let queue = there[wanted.name] else {
                found.append(missing("queue \(wanted.name)"))
                continue
            }
            var differences: [String] = []
            if let type = queue.type, type != "quorum" {
                differences.append("it is a \(type) queue; expected a quorum queue")
            }
            differences += Self.differences(queue.arguments.values, wanted.arguments)
            if !differences.isEmpty { found.append(other("queue \(wanted.name)", differences)) }
        }
        if found.isEmpty { found.add(.broker, "queues", .ok, "\(plan.objects.queues.count) as declared") }
        return found
    }

    private func missing(_ subject: String) -> Diagnosis {
        Diagnosis(
            .broker, subject, .fault, Self.missing,
            "sluice broker init makes it; see that prefix and virtual host are right")
    }

    private func other(_ subject: String, _ differences: [String]) -> Diagnosis {
        Diagnosis(
            .broker, subject, .fault, differences.joined(separator: "; "),
            "stop the cluster; when it is empty delete it, and run sluice broker init")
    }

    static func differences(_ found: AMQPTable, _ wanted: AMQPTable) -> [String] {
        Set(found.keys).union(wanted.keys).sorted().compactMap { key in
            guard found[key] != wanted[key] else { return nil }
            return "\(key) is \(found[key].map(text) ?? "not set"), expected \(wanted[key].map(text) ?? "not set")"
        }
    }

    private static func text(_ value: AMQPValue) -> String {
        switch value {
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .string(let text): text
        default: "something else"
        }
    }

    private func bindings(in host: BrokerFacts.VirtualHost) -> Diagnosis {
        let wanted = plan.objects.bindings
        let queues = Set(host.queues.map(\.name))
        // A queue that is missing is a finding of its own.
        let missing = host.lacking(wanted).filter { queues.contains($0.queue) }
        guard missing.isEmpty else {
            let names = missing.map { "\($0.queue) to \($0.exchange)" }
            return Diagnosis(
                .broker, "bindings", .fault, "not bound: \(BrokerDoctor.some(names))",
                "sluice broker init binds them; until then messages to them are refused or lost")
        }
        return Diagnosis(.broker, "bindings", .ok, "\(wanted.count) as declared")
    }

    // MARK: Policies

    /// What a policy may say without taking anything away.
    private static let harmless: Set<String> = ["queue-leader-locator", "queue-master-locator", "consumer-timeout"]
    /// Where what is beyond them is refused to its publisher: the dead letters' queue would drop it.
    private static let limits: Set<String> = ["max-length", "max-length-bytes"]

    /// The policies that touch the cluster's queues.
    package func policies() -> [Diagnosis] { facts.host.map(policies) ?? [] }

    private func policies(in host: BrokerFacts.VirtualHost) -> [Diagnosis] {
        let ours = Set(plan.objects.queues.map(\.name))
        var found: [Diagnosis] = []
        for queue in host.queues where ours.contains(queue.name) {
            let definition = queue.effective_policy_definition?.values ?? [:]
            let names = [queue.policy, queue.operator_policy].compactMap(\.self).filter { !$0.isEmpty }
                .joined(separator: ", ")
            let allowed = queue.name == plan.topology.dead ? Self.harmless : Self.harmless.union(Self.limits)
            let keys = definition.keys.filter { !allowed.contains($0) }.sorted()
            if !keys.isEmpty {
                found.add(
                    .broker, queue.name, .warning, "the policy \(names) sets \(keys.joined(separator: ", "))",
                    "let a policy for ^\(plan.topology.prefix)\\. set a length at most, and none for \(plan.topology.dead): "
                        + "expiry, and a limit there, would drop messages")
            }
            if let timeout = definition["consumer-timeout"]?.intValue, timeout < 600_000 {
                found.add(
                    .broker, queue.name, .warning, "the policy \(names) sets a consumer timeout of \(timeout / 1000) s",
                    "give it 30 minutes: an owner may hold what it merges for longer than this")
            }
        }
        return found.isEmpty ? [Diagnosis(.broker, "policies", .ok, "none that touches Sluice's queues")] : found
    }

    // MARK: Replicas

    private func replicas(in host: BrokerFacts.VirtualHost) -> [Diagnosis] {
        let ours = Set(plan.objects.queues.map(\.name))
        let wanted = min(facts.nodes.count, 3)
        var lost: [String] = []
        var weak: [String] = []
        var few: [String] = []
        var leaders: [String: Int] = [:]
        for queue in host.queues where ours.contains(queue.name) {
            guard let members = queue.members else { continue }
            let online = queue.online?.count ?? members.count
            if online * 2 <= members.count {
                lost.append("\(queue.name) (\(online) of \(members.count))")
            } else if online < members.count {
                weak.append("\(queue.name) (\(online) of \(members.count))")
            } else if members.count < wanted {
                few.append(queue.name)
            }
            if let leader = queue.leader { leaders[leader, default: 0] += 1 }
        }
        var found: [Diagnosis] = []
        if !lost.isEmpty {
            found.add(
                .broker, "replicas", .fault, "without a majority of their nodes: \(BrokerDoctor.some(lost))",
                "start the nodes that are down: until then these queues take and give nothing")
        }
        if !weak.isEmpty {
            found.add(
                .broker, "replicas", .warning, "nodes are missing: \(BrokerDoctor.some(weak))",
                "start the nodes that are down")
        }
        if !few.isEmpty {
            found.add(
                .broker, "replicas", .warning,
                "on fewer than \(wanted.counted("node")): \(BrokerDoctor.some(few))",
                "rabbitmq-queues grow NODE all --vhost-pattern ... --queue-pattern '^\(plan.topology.prefix)\\.', for each node"
            )
        }
        if found.isEmpty {
            let counts = leaders.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            found.add(.broker, "replicas", .ok, "every queue on \(wanted.counted("node")); leaders: \(counts)")
        }
        return found
    }

    // MARK: What is not the plan's

    /// What bears the cluster's prefix, or is fed by its exchanges, and is neither in the plan nor a running process's.
    private func strangers(in host: BrokerFacts.VirtualHost) -> [Diagnosis] {
        let exchanges = Set(plan.objects.exchanges.map(\.name))
        let queues = Set(plan.objects.queues.map(\.name))
        var names: [String] = []
        for exchange in host.exchanges
        where plan.isOurs(exchange.name) && !exchanges.contains(exchange.name) && !plan.isOfProcess(exchange.name) {
            if plan.cluster == nil, exchange.name.hasPrefix(plan.topology.cluster) { continue }
            names.append("exchange \(exchange.name)")
        }
        var exclusive: Set<String> = []
        for queue in host.queues {
            if queue.exclusive == true { exclusive.insert(queue.name) }
            if plan.isOurs(queue.name), !queues.contains(queue.name), !plan.isOfProcess(queue.name) {
                names.append("queue \(queue.name)")
            }
        }
        for binding in host.bindings where exchanges.contains(binding.source) {
            let isOwn = queues.contains(binding.destination) || plan.isOfProcess(binding.destination)
            guard !isOwn, !exclusive.contains(binding.destination) else { continue }
            names.append("binding of \(binding.destination) to \(binding.source)")
        }
        guard !names.isEmpty else { return [] }
        return .one(
            .broker, "foreign", .warning, "not Sluice's as it is set: \(BrokerDoctor.some(names))",
            "see that amqp.prefix and slices are right; delete what is left over, or what copies messages elsewhere")
    }
}
