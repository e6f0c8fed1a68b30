import AMQP
import APIDescriptions
import AdminAPI
import HTTPTypes
import Hummingbird
import Messages
import MessagingSupport
import Operations
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// `docs/api/admin.json` is what the coordinator serves. What its requests and answers hold is compared in every test that talks
/// to a coordinator (`RunningCoordinator`).
@Suite struct AdminDescriptionTests {
    /// What each schema of a request's body is read as.
    private static let bodies: [(schema: String, keys: Set<String>)] = [
        ("NewApp", AppRequest.keys), ("AppChange", AppRequest.changeableKeys.union(["compatibility"])),
        ("PruneRequest", PruneRequest.keys), ("Schema", SchemaDraftRequest.keys), ("RulesRequest", RulesRequest.keys),
        ("RulesCheckRequest", RulesCheckRequest.keys),
        ("CustomDataRequest", CustomDataRequest.keys), ("TerminationRequest", TerminationRequest.keys),
        ("ResetRequest", ResetRequest.keys), ("EraseRequest", EraseRequest.keys),
        ("MigrationRequest", MigrationRequest.keys),
        ("AllowResetsRequest", AllowResetsRequest.keys),
        ("TokenLogin", TokenLoginSettings.keys), ("EmailLogin", EmailLoginSettings.keys),
        ("KeyRotationRequest", KeyRotationRequest.keys), ("AdminTokenRequest", AdminTokenRequest.keys),
        ("SessionRequest", SessionRequest.keys), ("DeadLettersRequest", DeadLettersRequest.keys),
    ]

    @Test func everyRouteIsDescribedAndTheReverse() async throws {
        let description = try APIDescription("admin")
        let served = try await Self.server().routes().routes
        let routes = Set(served.map { APIDescription.Operation($0.method.rawValue, "\($0.path)") })
        expectTrue(routes.count > 40)
        for difference in description.differences(from: routes) { Issue.record("\(difference)") }
    }

    @Test func theRolesThatAreDescribedAreThoseThatAreAskedFor() throws {
        let description = try APIDescription("admin")
        for operation in description.operations {
            let role = try #require(AdminRoute(endpoint: operation.path)).role(for: operation.method)
            expectEqual(
                description.content(of: operation)?["x-role"]?.stringValue, role.rawValue,
                "\(description.file), \(operation): x-role is \(role.rawValue)")
        }
    }

    @Test func bodiesHaveTheKeysThatAreRead() throws {
        let description = try APIDescription("admin")
        for (schema, keys) in Self.bodies {
            expectEqual(
                description.keys(ofSchema: schema), keys,
                "\(description.file), components/schemas/\(schema): the keys that are read are \(keys.sorted())")
        }
    }

    /// A server that is never run: for its routes.
    private static func server() async throws -> AdminServer {
        let slices = try #require(SliceCount(1))
        let configuration = CoordinatorConfiguration(
            id: "c1", port: 0, adminToken: Secret(CoordinatorHarness.token),
            amqp: try AMQPConfiguration(url: "amqp://guest:guest@127.0.0.1:1/"), topology: Topology(), slices: slices)
        let context = CoordinatorContext(
            configuration: configuration, store: try await SQLiteStores.inMemory().control(), readiness: Readiness(),
            clock: .system, logger: TestTopology.logger)
        return AdminServer(context: context, boundPort: BoundPort(), token: try AdminToken.resolve(configuration))
    }
}
