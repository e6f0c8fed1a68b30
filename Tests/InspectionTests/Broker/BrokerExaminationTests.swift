import AMQP
import Foundation
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

struct BrokerExaminationTests {
    private let plan: BrokerPlan

    init() throws {
        plan = BrokerPlan(
            topology: Topology(prefix: "sluice"), slices: try #require(SliceCount(2)), virtualHost: "/", cluster: "0f")
    }

    /// A broker of three nodes on which `sluice broker init` has made everything.
    private var wellKept: BrokerFacts {
        let nodes = ["rabbit@a", "rabbit@b", "rabbit@c"]
        let objects = plan.objects
        return BrokerFacts(
            version: "4.1.2", nodes: nodes.map { BrokerFacts.Node(name: $0, running: true) },
            host: BrokerFacts.VirtualHost(
                exchanges: objects.exchanges.map {
                    BrokerFacts.Exchange(
                        name: $0.name, type: $0.type.rawValue, durable: true, auto_delete: false,
                        arguments: .init($0.arguments))
                },
                queues: objects.queues.map {
                    BrokerFacts.Queue(
                        name: $0.name, type: "quorum", arguments: .init($0.arguments), leader: nodes[0],
                        members: nodes, online: nodes)
                },
                bindings: objects.bindings.map {
                    BrokerFacts.Binding(
                        source: $0.exchange, destination: $0.queue, routing_key: $0.routingKey)
                },
                policies: [
                    BrokerFacts.Policy(
                        name: plan.policyName, pattern: plan.policyPattern,
                        definition: .init(["queue-leader-locator": "balanced"]), priority: BrokerPlan.policyPriority)
                ]),
            featureFlags: [BrokerFacts.FeatureFlag(name: "stream_queue", state: "enabled")],
            accounts: BrokerFacts.Accounts(
                users: BrokerRole.allCases.map { BrokerFacts.User(name: plan.user($0), tags: .init([])) },
                permissions: BrokerRole.allCases.map { role in
                    let rights = plan.permissions(role)
                    return BrokerFacts.Permission(
                        user: plan.user(role), vhost: "/", configure: rights.configure.expression,
                        write: rights.write.expression, read: rights.read.expression)
                }))
    }

    /// What is found wrong after a change.
    private func wrong(_ change: (inout BrokerFacts) -> Void) -> [Diagnosis] {
        var facts = wellKept
        change(&facts)
        return BrokerExamination(plan: plan, facts: facts).diagnoses()
            .filter { $0.level == .fault || $0.level == .warning }
    }

    @Test func aBrokerMadeByInitHasNothingWrong() {
        expectEqual(wrong { _ in }, [])
        let nothing = BrokerDefinitions(plan, passwords: [:], without: wellKept)
        expectEqual(nothing.changes, [])
    }

    @Test func missingObjectsAreNamedAndMade() throws {
        var facts = wellKept
        facts.host?.exchanges.removeAll { $0.name == "sluice.realms" }
        facts.host?.queues.removeAll { $0.name == "sluice.slice.1" }
        facts.host?.bindings.removeAll { $0.destination == "sluice.slice.1" || $0.source == "sluice.dead" }
        let found = BrokerExamination(plan: plan, facts: facts).diagnoses().filter { $0.level == .fault }
        expectEqual(found.map(\.subject), ["exchange sluice.realms", "queue sluice.slice.1", "bindings"])
        expectEqual(found.last?.finding, "not bound: sluice.dead to sluice.dead")
        let document = BrokerDefinitions(plan, passwords: [:], without: facts)
        expectEqual(document.changes, ["1 exchange", "1 queue", "4 bindings"])
        expectTrue(document.queues.map(\.name) == ["sluice.slice.1"] && document.users.isEmpty)
        // What is missing is no reason to refuse to make it.
        expectEqual(BrokerExamination(plan: plan, facts: facts).conflicts(), [])
    }

    @Test func argumentsThatDifferAreNamedAndNotChanged() {
        let found = wrong { facts in
            facts.host?.queues[2].arguments.values["x-delivery-limit"] = 5
            facts.host?.queues[0].arguments.values["x-max-length"] = 1000
            facts.host?.exchanges[2].type = "direct"
        }
        expectEqual(found.map(\.level), [.fault, .fault, .fault])
        expectEqual(found[0].finding, "it is a direct exchange; expected topic")
        expectEqual(found[1].finding, "x-max-length is 1000, expected not set")
        expectEqual(found[2].finding, "x-delivery-limit is 5, expected 20")
        var facts = wellKept
        facts.host?.queues[2].type = "classic"
        expectEqual(BrokerExamination(plan: plan, facts: facts).conflicts().count, 1)
    }

    @Test func anotherClustersMarkIsAConflict() {
        var facts = wellKept
        facts.host?.exchanges.removeAll { $0.name == "sluice.cluster" }
        facts.host?.exchanges.append(
            BrokerFacts.Exchange(
                name: "sluice.cluster", type: "fanout", durable: true, auto_delete: false,
                arguments: .init(["alternate-exchange": "sluice.cluster.ee"])))
        let conflicts = BrokerExamination(plan: plan, facts: facts).conflicts()
        expectTrue(conflicts.count == 1 && conflicts[0].finding == "the broker belongs to cluster ee, the store to 0f")
    }

    @Test func usersWithTooManyRightsAndTooFewAreToldByExamples() {
        let found = wrong { facts in
            for index in BrokerRole.allCases.indices {
                switch BrokerRole.allCases[index] {
                case .gateway:
                    facts.accounts?.permissions[index].write =
                        "^sluice\\.(slices|realms|outcomes|folder(\\..*)?|gateway\\..*)$"
                case .worker: facts.accounts?.permissions[index].read = "^sluice\\.(slice\\..*|folder(\\..*)?)$"
                case .coordinator: facts.accounts?.users[index].tags = .init(["administrator"])
                case .operator: break
                }
            }
            facts.accounts?.permissions.append(
                BrokerFacts.Permission(user: "shop", vhost: "/", configure: "^shop", write: ".*", read: "^shop"))
            facts.accounts?.permissions.append(
                BrokerFacts.Permission(user: "blog", vhost: "/", configure: "^blog", write: "^blog", read: "^blog"))
        }
        expectEqual(
            found.map { "\($0.level) \($0.subject): \($0.finding)" },
            [
                "warning user sluice-gateway: too broad: may write sluice.realms",
                "fault user sluice-worker: may not read sluice.presence, anonymous.example",
                "warning user sluice-coordinator: too broad: it has the tags administrator",
                "warning other users: may use the cluster's exchanges or queues: shop",
            ])
    }

    @Test func nodesQueuesWithoutMajorityAndStrangersAreTold() {
        let found = wrong { facts in
            facts.nodes[1].running = false
            facts.nodes[2].disk_free_alarm = true
            facts.host?.queues[2].online = ["rabbit@a"]
            facts.host?.queues[3].online = ["rabbit@a", "rabbit@c"]
            facts.host?.exchanges.append(
                BrokerFacts.Exchange(
                    name: "sluice.cluster.ee", type: "fanout", durable: true, auto_delete: false, arguments: .init()))
            facts.host?.bindings.append(
                BrokerFacts.Binding(
                    source: "sluice.realms", destination: "spy", routing_key: "#"))
            facts.host?.bindings.append(
                BrokerFacts.Binding(
                    source: "sluice.realms", destination: "sluice.gateway.1",
                    routing_key: "a.b"))
        }
        expectTrue(
            found.map(\.finding) == [
                "the node is down", "disk alarm: nothing can be published",
                "without a majority of their nodes: sluice.slice.0 (1 of 3)",
                "nodes are missing: sluice.slice.1 (2 of 3)",
                "not Sluice's as it is set: exchange sluice.cluster.ee, binding of spy to sluice.realms",
            ])
    }

    @Test(arguments: [("3.9.29", 1), ("3.10.8", 0), ("4.2.0-rc.1", 0)])
    func versionsBefore310AreAFault(version: String, faults: Int) {
        expectEqual(wrong { $0.version = version }.count, faults)
    }

    @Test func thePluginsAnswersAreRead() throws {
        let queue = """
            {"arguments":{"x-delivery-limit":20,"x-queue-type":"quorum","x-single-active-consumer":true},"auto_delete":false,
             "durable":true,"exclusive":false,"leader":"a","members":["a"],"name":"q","online":["a"],"type":"quorum",
             "effective_policy_definition":[]}
            """
        let read = try JSONDecoder().decode(BrokerFacts.Queue.self, from: Data(queue.utf8))
        expectEqual(
            read.arguments.values,
            [
                "x-delivery-limit": 20, "x-queue-type": "quorum", "x-single-active-consumer": true,
            ])
        expectEqual(read.effective_policy_definition?.values, [:])
        for (tags, names) in [("[]", []), ("\"\"", []), ("\"administrator,x\"", ["administrator", "x"])] {
            let user = try JSONDecoder().decode(
                BrokerFacts.User.self, from: Data(#"{"name":"u","tags":\#(tags)}"#.utf8))
            expectEqual(user.tags.names, names)
        }
    }
}
