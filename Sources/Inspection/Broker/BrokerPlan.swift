package import Messages
package import SyncModel

/// The plan of all that a cluster has at its broker: exchanges, queues and bindings, users and their permissions, and a
/// policy. Pure.
package struct BrokerPlan: Sendable {
    package let topology: Topology
    package let virtualHost: String
    package let cluster: String?
    package let objects: TopologyPlan
    /// What the users' names begin with.
    private let userPrefix: String

    /// - Parameters:
    ///   - cluster: the id of the cluster whose mark belongs to the plan; nil: none.
    ///   - userPrefix: what the users' names begin with; nil: the topology's prefix and a hyphen.
    package init(
        topology: Topology, slices: SliceCount, virtualHost: String, cluster: String?, userPrefix: String? = nil
    ) {
        self.topology = topology
        self.virtualHost = virtualHost
        self.cluster = cluster
        self.userPrefix = userPrefix ?? "\(topology.prefix)-"
        objects = TopologyPlan(topology, slices: slices, cluster: cluster)
    }

    package func user(_ role: BrokerRole) -> String { userPrefix + role.rawValue }

    package func permissions(_ role: BrokerRole) -> BrokerPermissions { BrokerPermissions(role, in: topology) }

    /// The policy that spreads the leaders of the queues over the nodes. Without it all are on the node to which the first process
    /// happened to be connected.
    package var policyName: String { "\(topology.prefix)-leaders" }

    package var policyPattern: String {
        "^\(NamePattern.escaped(topology.prefix))\\.(slice\\..*|outcomes|dead)$"
    }

    package static let policyDefinition = ["queue-leader-locator": "balanced"]

    /// The priority of the policy, below every policy of an operator's: RabbitMQ applies one policy to a queue.
    package static let policyPriority = -10

    /// Whether a name is one that processes make for as long as they run, or that of a feed.
    package func isOfProcess(_ name: String) -> Bool {
        [
            topology.gateway(""), topology.workerAlive(""), "\(topology.prefix).doctor.", "\(topology.folder).",
            topology.feed(""),
        ]
        .contains(where: name.hasPrefix) || name == topology.folder
    }

    /// Whether a name belongs to the cluster, as it begins.
    package func isOurs(_ name: String) -> Bool { name.hasPrefix("\(topology.prefix).") }
}
