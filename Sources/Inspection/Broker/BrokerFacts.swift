package import AMQP
import Messages

/// The facts that the broker's management plugin tells about the broker and one virtual host.
package struct BrokerFacts: Sendable {
    package struct Exchange: Decodable, Sendable {
        package var name: String
        package var type: String
        package var durable: Bool
        package var auto_delete: Bool
        package var arguments: Arguments
    }

    package struct Queue: Decodable, Sendable {
        package var name: String
        package var type: String?
        package var exclusive: Bool?
        package var arguments: Arguments
        /// The node that leads a quorum queue, all the queue's nodes, and those of them that are up.
        package var leader: String?
        package var members: [String]?
        package var online: [String]?
        package var policy: String?
        package var operator_policy: String?
        package var effective_policy_definition: Arguments?
    }

    package struct Binding: Decodable, Sendable {
        package var source: String
        package var destination: String
        package var routing_key: String
    }

    package struct Permission: Codable, Sendable, Equatable {
        package var user: String
        package var vhost: String
        package var configure: String
        package var write: String
        package var read: String
    }

    package struct User: Decodable, Sendable {
        package var name: String
        package var password_hash: String?
        package var tags: Tags

        package var isAdministrator: Bool { tags.names.contains("administrator") }
    }

    package struct Node: Decodable, Sendable {
        package var name: String
        package var running: Bool
        package var mem_alarm: Bool?
        package var disk_free_alarm: Bool?
        package var partitions: [String]?
    }

    package struct FeatureFlag: Decodable, Sendable {
        package var name: String
        package var state: String
    }

    package struct Policy: Decodable, Sendable {
        package var name: String
        package var pattern: String
        package var definition: Arguments
        package var priority: Int
    }

    package var version: String
    package var nodes: [Node]
    /// Nil: there is no such virtual host, or the user may not enter it.
    package var host: VirtualHost?
    package var featureFlags: [FeatureFlag]
    /// Nil for a user that is no administrator.
    package var accounts: Accounts?

    package struct VirtualHost: Sendable {
        package var exchanges: [Exchange]
        package var queues: [Queue]
        package var bindings: [Binding]
        package var policies: [Policy]

        package init(exchanges: [Exchange], queues: [Queue], bindings: [Binding], policies: [Policy]) {
            self.exchanges = exchanges
            self.queues = queues
            self.bindings = bindings
            self.policies = policies
        }

        /// Returns the wanted bindings that do not exist.
        func lacking(_ wanted: [TopologyPlan.Binding]) -> [TopologyPlan.Binding] {
            let there = Set(bindings.map { [$0.source, $0.destination, $0.routing_key] })
            return wanted.filter { !there.contains([$0.exchange, $0.queue, $0.routingKey]) }
        }
    }

    package struct Accounts: Sendable {
        package var users: [User]
        /// The permissions in every virtual host.
        package var permissions: [Permission]

        package init(users: [User], permissions: [Permission]) {
            self.users = users
            self.permissions = permissions
        }
    }

    package init(
        version: String, nodes: [Node], host: VirtualHost?, featureFlags: [FeatureFlag], accounts: Accounts?
    ) {
        self.version = version
        self.nodes = nodes
        self.host = host
        self.featureFlags = featureFlags
        self.accounts = accounts
    }
}

extension BrokerFacts {
    /// A table of arguments; the plugin writes an empty list where there are none.
    package struct Arguments: Codable, Sendable, Equatable {
        package var values: AMQPTable

        package init(_ values: AMQPTable = [:]) { self.values = values }

        package init(from decoder: any Decoder) throws {
            values = [:]
            guard let container = try? decoder.container(keyedBy: Key.self) else { return }
            for key in container.allKeys {
                values[key.stringValue] =
                    if let flag = try? container.decode(Bool.self, forKey: key) {
                        .bool(flag)
                    } else if let number = try? container.decode(Int64.self, forKey: key) {
                        .int(number)
                    } else if let text = try? container.decode(String.self, forKey: key) {
                        .string(text)
                    } else {
                        .void
                    }
            }
        }

        /// Leaves out what is neither a truth value nor a whole number nor text: no queue or exchange of ours has such arguments.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in values {
                let key = Key(stringValue: name)
                switch value {
                case .bool(let flag): try container.encode(flag, forKey: key)
                case .int(let number): try container.encode(number, forKey: key)
                case .string(let text): try container.encode(text, forKey: key)
                default: break
                }
            }
        }

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    /// A user's tags: a list, or in older versions a text with commas.
    package struct Tags: Decodable, Sendable {
        package var names: [String]

        package init(_ names: [String]) { self.names = names }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let list = try? container.decode([String].self) {
                names = list
            } else {
                names = try container.decode(String.self).split(separator: ",").map(String.init)
            }
        }
    }
}
