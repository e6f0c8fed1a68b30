import HTTPTypes
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// An app's schema is staged and deployed over the admin API.
@Suite(.needsBroker, .hangGuard) struct SchemaVersionFlowTests {
    private static let declared = [
        SchemaElement(className: "Task", type: "object(_id: int)"),
        SchemaElement(className: "Task", property: "done", type: "bool"),
        SchemaElement(className: "Task", property: "title", type: "string"),
    ]
    private static let wanted = #"""
        {"classes": [{"name": "Task", "type": "object(_id: int)", "properties": [{"name": "done", "type": "string?"}]}]}
        """#

    /// Deploying publishes, which needs the broker: without one the operator is told to try again.
    @Test func aBrokerThatIsAwayIsNoMistakeOfTheCoordinator() {
        let error = AdminError(CoordinatorError(.brokerUnavailable, "there is no connection to the broker yet"))
        expectTrue(error.status.code == 503 && error.code == "broker_unavailable")
    }

    @Test func aBreakingSchemaIsStagedAndDeployed() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                _ = try await coordinator.request("POST", "apps", #"{"id":"tasks","syncMode":"flexible"}"#)
                try await harness.store.extendSchema(ofApp: "tasks", with: Self.declared)
                let empty = try await coordinator.request("GET", "apps/tasks/schema/versions")
                expectTrue(empty.status == 200 && empty["versions.0.version"] == nil && empty["draft.changes.0"] == nil)
                let nothing = try await coordinator.request("POST", "apps/tasks/schema/deploy")
                expectTrue(nothing.status == 409 && nothing["error"] == "nothing_staged")

                let staged = try await coordinator.request("PUT", "apps/tasks/schema/draft", Self.wanted)
                expectTrue(staged.status == 200 && staged["draft.version"] == "1")
                expectTrue(
                    staged["draft.changes.1"]?.contains("title is removed") == true
                        || staged["draft.changes.0"]?.contains("title is removed") == true)
                try await expectTrue(harness.store.app("tasks")?.clientSchemas == nil)

                let deployed = try await coordinator.request("POST", "apps/tasks/schema/deploy")
                expectTrue(deployed.status == 200 && deployed["versions.1.version"] == "1")
                expectTrue(deployed["draft.changes.0"] == nil)
                let old = try await coordinator.request("GET", "apps/tasks/schema/versions/0")
                expectTrue(
                    old["classes.0.properties.1.name"] == "title" && old["classes.0.properties.0.type"] == "bool")
                let new = try await coordinator.request("GET", "apps/tasks/schema/versions/1")
                expectTrue(new["classes.0.properties.0.type"] == "string?" && new["classes.0.properties.1.name"] == nil)
                try await expectEqual(coordinator.request("GET", "apps/tasks/schema/versions/2").status, 404)
                try await expectTrue(harness.store.schema(ofApp: "tasks").contains { $0.property == "done@v1" })
                // The draft is the schema that the app has by now.
                try await expectEqual(coordinator.request("PUT", "apps/tasks/schema/draft", Self.wanted).status, 400)
            }
        }
    }

    @Test func aDeletedDraftIsForgotten() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                _ = try await coordinator.request("POST", "apps", #"{"id":"tasks","syncMode":"flexible"}"#)
                _ = try await coordinator.request("PUT", "apps/tasks/schema/draft", Self.wanted)
                let gone = try await coordinator.request("DELETE", "apps/tasks/schema/draft")
                expectTrue(gone.status == 200 && gone["draft.changes.0"] == nil)
                try await expectEqual(coordinator.request("POST", "apps/tasks/schema/deploy").status, 409)
                _ = try await coordinator.request("POST", "apps", #"{"id":"parts"}"#)
                try await expectEqual(coordinator.request("GET", "apps/parts/schema/versions").status, 400)
            }
        }
    }
}
