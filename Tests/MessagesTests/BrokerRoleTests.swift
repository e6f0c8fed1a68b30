import TestSupport
import Testing

@testable import Messages
@testable import SyncModel

struct BrokerRoleTests {
    private static let topology = Topology(prefix: "a.b+c")

    private static func plan(_ slices: Int) throws -> TopologyPlan {
        TopologyPlan(topology, slices: try #require(SliceCount(slices)), cluster: "0f")
    }

    private func names() throws -> [String] {
        let topology = Self.topology
        let plan = try Self.plan(12)
        return plan.exchanges.map(\.name) + plan.queues.map(\.name) + [
            topology.gateway("g"), topology.workerAlive("w"), "a.b+c.doctor.1", "a.b+c.folder", "a.b+c.folder.1",
            "anonymous.1.2", "amq.default",
            "amq.topic",
            "aXb+c.realms", "x.a.b+c.realms", "a.b+c.realms2", "axbc.gateway.1", "",
        ]
    }

    @Test(arguments: BrokerRole.allCases)
    func expressionsSayWhatThePatternsSay(role: BrokerRole) throws {
        let permissions = BrokerPermissions(role, in: Self.topology)
        for pattern in [permissions.configure, permissions.write, permissions.read] {
            let expression = try Regex(pattern.expression)
            for name in try names() {
                // RabbitMQ looks for it anywhere in the name.
                expectEqual(
                    (name.firstMatch(of: expression) != nil), pattern.matches(name), "\(pattern.expression) \(name)")
            }
        }
    }

    @Test func aGatewayCanDoNothingToHistoryAndToOthersRequests() throws {
        let topology = Self.topology
        let rights = BrokerPermissions(.gateway, in: topology)
        for name in try names()
        where name != topology.slices && name != topology.outcomes && name != topology.gateway("g")
            && !name.hasPrefix(topology.folder)
        {
            expectTrue(!rights.write.matches(name) && !rights.configure.matches(name), "\(name)")
        }
        expectTrue(!rights.read.matches(topology.slice(SliceNumber(0))) && !rights.read.matches(topology.dead))
    }

    @Test func nobodysRightsLetThemDeleteWhatIsShared() throws {
        let plan = try Self.plan(3)
        for role in BrokerRole.allCases {
            let rights = BrokerPermissions(role, in: Self.topology)
            for name in plan.exchanges.map(\.name) + plan.queues.map(\.name) {
                expectTrue(!rights.configure.matches(name), "\(role) \(name)")
            }
        }
    }
}
