import AMQP
package import Changesets
package import Messages
import SyncModel

/// A feed at the broker: a queue with an app's changes, a queue that tells what was lost, and a user that may read these two and nothing else; or a
/// stream with the changes, and its user. Pure.
package struct FeedPlan: Sendable, Hashable {
    package let name: String
    package let app: String
    /// Nil: of all classes.
    package let className: ByteString?
    /// How long a change waits at most, in milliseconds.
    package let keep: Int64
    /// How much waits at most, in bytes.
    package let maxBytes: Int64
    /// Whether changes stay when they are read.
    package let isStream: Bool
    package let topology: Topology
    package let virtualHost: String
    package let user: String

    package static let maxNameBytes = 60

    package init(
        name: String, app: String, className: ByteString?, keep: Int64, maxBytes: Int64, isStream: Bool = false,
        topology: Topology, virtualHost: String
    ) {
        self.isStream = isStream
        self.name = name
        self.app = app
        self.className = className
        self.keep = keep
        self.maxBytes = maxBytes
        self.topology = topology
        self.virtualHost = virtualHost
        user = Self.user(of: name, in: topology)
    }

    package static func user(of name: String, in topology: Topology) -> String { "\(topology.prefix)-feed-\(name)" }

    /// Lower-case letters, digits, `-` and `_`: what else there is has a meaning in names of queues.
    package static func isName(_ name: String) -> Bool {
        (1...maxNameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_")
            }
    }

    package var queues: [TopologyPlan.Queue] {
        guard !isStream else {
            return [
                TopologyPlan.Queue(
                    name: topology.feed(name),
                    arguments: topology.feedStreamArguments(keep: keep, maxBytes: maxBytes))
            ]
        }
        return [
            TopologyPlan.Queue(name: topology.lostOfFeed(name), arguments: topology.lostQueueArguments),
            TopologyPlan.Queue(
                name: topology.feed(name),
                arguments: topology.feedQueueArguments(name, keep: keep, maxBytes: maxBytes)),
        ]
    }

    package var bindings: [TopologyPlan.Binding] {
        Topology.changeKeys(app: app, class: className).map {
            TopologyPlan.Binding(exchange: topology.changes, queue: topology.feed(name), routingKey: $0)
        }
    }

    /// The rights of its user: to read its queues.
    package var permissions: BrokerPermissions { BrokerPermissions(reading: NamePattern(queues.map(\.name))) }
}

/// A feed as the broker has it.
package struct FoundFeed: Sendable, Equatable {
    package var name: String
    /// The patterns by which it gets changes, such as `tasks.#`.
    package var keys: [String]
    /// Milliseconds, and bytes; nil where the queue was made by somebody else.
    package var keep: Int64?
    package var maxBytes: Int64?
    package var isStream = false

    /// All feeds of a cluster, by name.
    package static func all(in host: BrokerFacts.VirtualHost, _ topology: Topology) -> [FoundFeed] {
        host.queues.compactMap { queue in
            guard queue.name.hasPrefix(topology.feed("")) else { return nil }
            let name = String(queue.name.dropFirst(topology.feed("").count))
            guard FeedPlan.isName(name) else { return nil }
            let keys = host.bindings.filter { $0.source == topology.changes && $0.destination == queue.name }
            let arguments = queue.arguments.values
            let age = arguments["x-max-age"]?.stringValue.flatMap { Int64($0.dropLast()) }.map { $0 * 1_000 }
            return FoundFeed(
                name: name, keys: keys.map(\.routing_key).sorted(), keep: arguments["x-message-ttl"]?.intValue ?? age,
                maxBytes: arguments["x-max-length-bytes"]?.intValue,
                isStream: arguments["x-queue-type"]?.stringValue == "stream")
        }
        .sorted { $0.name < $1.name }
    }

    /// Whether somebody has deleted the queue of a feed that there was: what was told since is lost.
    package static func isBroken(_ name: String, in host: BrokerFacts.VirtualHost, _ topology: Topology) -> Bool {
        let queues = Set(host.queues.map(\.name))
        return queues.contains(topology.lostOfFeed(name)) && !queues.contains(topology.feed(name))
    }
}
