import AMQP
import Crypto
import Foundation
package import Messages
import SyncModel

/// A document of definitions as RabbitMQ imports them: `POST /api/definitions`, `rabbitmqctl import_definitions`, or
/// `load_definitions` of a node that starts for the first time.
package struct BrokerDefinitions: Encodable, Sendable {
    struct Host: Encodable { var name: String }

    struct User: Encodable {
        var name: String
        var password_hash: String
        var hashing_algorithm = "rabbit_password_hashing_sha256"
        var tags: [String] = []
    }

    struct Policy: Encodable {
        var vhost: String
        var name: String
        var pattern: String
        var `apply-to` = "queues"
        var definition: [String: String]
        var priority: Int
    }

    struct Exchange: Encodable {
        var name: String
        var vhost: String
        var type: String
        var durable = true
        var auto_delete = false
        var `internal` = false
        var arguments: BrokerFacts.Arguments
    }

    struct Queue: Encodable {
        var name: String
        var vhost: String
        var durable = true
        var auto_delete = false
        var arguments: BrokerFacts.Arguments
    }

    struct Binding: Encodable {
        var source: String
        var vhost: String
        var destination: String
        var destination_type = "queue"
        var routing_key: String
        var arguments = BrokerFacts.Arguments()
    }

    private(set) var vhosts: [Host]
    private(set) var users: [User]
    private(set) var permissions: [BrokerFacts.Permission]
    private(set) var policies: [Policy]
    private(set) var exchanges: [Exchange]
    private(set) var queues: [Queue]
    private(set) var bindings: [Binding]

    /// The changes of a document, in words; empty for one that changes nothing.
    package private(set) var changes: [String] = []

    private enum CodingKeys: String, CodingKey {
        case vhosts, users, permissions, policies, exchanges, queues, bindings
    }

    /// - Parameters:
    ///   - passwords: of the roles whose users are to be made, or get another password. A user that is left out must exist.
    ///   - facts: what is there already and is left out; nil: nothing.
    package init(_ plan: BrokerPlan, passwords: [BrokerRole: String], without facts: BrokerFacts? = nil) {
        let host = plan.virtualHost
        let there = facts?.host
        vhosts = facts == nil || there == nil ? [Host(name: host)] : []
        let known = facts?.accounts
        users = []
        permissions = []
        for role in BrokerRole.allCases {
            let name = plan.user(role)
            if let password = passwords[role],
                let hash = Self.hash(password, unlessIs: known?.users.first { $0.name == name })
            {
                users.append(User(name: name, password_hash: hash))
            }
            let wanted = plan.permissions(role)
            let permission = BrokerFacts.Permission(
                user: name, vhost: host, configure: wanted.configure.expression, write: wanted.write.expression,
                read: wanted.read.expression)
            if known?.permissions.contains(permission) != true { permissions.append(permission) }
        }
        let policy = Policy(
            vhost: host, name: plan.policyName, pattern: plan.policyPattern, definition: BrokerPlan.policyDefinition,
            priority: BrokerPlan.policyPriority)
        let hasPolicy =
            there?.policies.contains {
                $0.name == policy.name && $0.pattern == policy.pattern && $0.priority == policy.priority
                    && $0.definition.values == ["queue-leader-locator": "balanced"]
            } == true
        policies = hasPolicy ? [] : [policy]
        let exchangesThere = Set(there?.exchanges.map(\.name) ?? [])
        exchanges = plan.objects.exchanges.filter { !exchangesThere.contains($0.name) }.map {
            Exchange(name: $0.name, vhost: host, type: $0.type.rawValue, arguments: .init($0.arguments))
        }
        let queuesThere = Set(there?.queues.map(\.name) ?? [])
        queues = plan.objects.queues.filter { !queuesThere.contains($0.name) }.map {
            Queue(name: $0.name, vhost: host, arguments: .init($0.arguments))
        }
        bindings = (there?.lacking(plan.objects.bindings) ?? plan.objects.bindings).map {
            Binding(source: $0.exchange, vhost: host, destination: $0.queue, routing_key: $0.routingKey)
        }
        changes = words()
    }

    /// The definitions that make a feed.
    ///
    /// - Parameter password: of its user; nil: the user has one.
    package init(_ feed: FeedPlan, password: String?) {
        let host = feed.virtualHost
        vhosts = []
        policies = []
        exchanges = []
        users =
            password.flatMap { Self.hash($0, unlessIs: nil) }.map { [User(name: feed.user, password_hash: $0)] } ?? []
        let rights = feed.permissions
        permissions = [
            BrokerFacts.Permission(
                user: feed.user, vhost: host, configure: rights.configure.expression, write: rights.write.expression,
                read: rights.read.expression)
        ]
        queues = feed.queues.map { Queue(name: $0.name, vhost: host, arguments: .init($0.arguments)) }
        bindings = feed.bindings.map {
            Binding(source: $0.exchange, vhost: host, destination: $0.queue, routing_key: $0.routingKey)
        }
        changes = words()
    }

    private func words() -> [String] {
        var words: [String] = []
        func count(_ number: Int, _ one: String, _ many: String? = nil) {
            if number > 0 { words.append(number.counted(one, many)) }
        }
        count(vhosts.count, "virtual host")
        count(exchanges.count, "exchange")
        count(queues.count, "queue")
        count(bindings.count, "binding")
        count(policies.count, "policy", "policies")
        words += users.map { "user \($0.name)" }
        let newUsers = Set(users.map(\.name))
        words += permissions.filter { !newUsers.contains($0.user) }.map { "permissions of \($0.user)" }
        return words
    }

    /// Returns the password as RabbitMQ keeps it: four bytes of salt, and the SHA-256 of salt and password.
    ///
    /// - Returns: nil if the user has this password already.
    private static func hash(_ password: String, unlessIs user: BrokerFacts.User?) -> String? {
        if let known = user?.password_hash, let bytes = Data(base64Encoded: known), bytes.count > 4,
            digest(password, salt: bytes.prefix(4)) == known
        {
            return nil
        }
        return digest(password, salt: Data((0..<4).map { _ in UInt8.random(in: .min ... .max) }))
    }

    private static func digest(_ password: String, salt: Data) -> String {
        (salt + Data(SHA256.hash(data: salt + Data(password.utf8)))).base64EncodedString()
    }
}
