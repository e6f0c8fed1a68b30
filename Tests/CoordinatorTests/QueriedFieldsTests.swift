import Messages
import MessagingSupport
import Rules
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What clients in development mode ask for subscriptions by becomes queryable.
@Suite(.needsBroker, .hangGuard) struct QueriedFieldsTests {
    private func with(
        _ rules: String, developmentMode: Bool = true,
        _ body: (CoordinatorHarness, RunningCoordinator) async throws -> Void
    ) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(
                AppRecord(id: "tasks", syncMode: .flexible, developmentMode: developmentMode, createdAt: 1),
                rules: rules)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                try await body(harness, coordinator)
            }
        }
    }

    private func report(_ fields: [String: [String]]) -> QueriedReport {
        QueriedReport(app: "tasks", fields: fields, user: "65f0", clientFile: 7)
    }

    private func queryable(_ harness: CoordinatorHarness) async throws -> (version: UInt64, Queryable) {
        let version = try await harness.store.app("tasks")?.rulesVersion ?? 0
        let record = try #require(try await harness.store.rules(app: "tasks", version: version))
        return (version, try #require(RulesCheck(record.document).document).queryable)
    }

    @Test func theyAreAddedOnceAndTheAuditSaysSo() async throws {
        try await with(#"{"defaultRoles":"readAndWriteAll"}"#) { harness, coordinator in
            let reports = [
                report(["Task": ["done", "limit"]]), report(["Task": ["done"]]), report(["Team": ["name", "_id"]]),
            ]
            for report in reports { try await harness.publish(report, to: harness.topology.outcomes) }
            try await eventually { try await harness.store.app("tasks")?.rulesVersion == 3 }
            let (_, found) = try await queryable(harness)
            expectTrue(found.classes == ["Task": ["done"], "Team": ["name"]] && found.global.isEmpty)
            let audit = try await coordinator.request("GET", "audit")
            expectEqual(audit["entries.0.details"]?.hasSuffix("asked for subscriptions by it: Team.name"), true)
            expectEqual(audit["entries.1.details"]?.contains("client file 7 of user 65f0"), true)
            expectTrue(audit["entries.1.token"] == "development mode" && audit["entries.1.status"] == "200")
            expectEqual(audit["entries.1.path"], "/api/admin/v1/apps/tasks/rules")
            try await expectEqual(coordinator.request("GET", "apps/tasks/rules")["author"], "development mode")
            try await expectTrue(coordinator.request("GET", "audit")["entries.2.details"] == nil)
        }
    }

    @Test(arguments: [
        (#"{"defaultRoles":"readAndWriteAll","queryable":{"global":["done"]}}"#, true), (#""open""#, false),
    ])
    func rulesThatNameAllAndAppsOutOfDevelopmentStayAsTheyAre(rules: String, developmentMode: Bool) async throws {
        let document = try #require(RulesCheck(Array(rules.utf8)).document)
        try await with(String(decoding: document.bytes, as: UTF8.self), developmentMode: developmentMode) {
            harness, _ in
            try await harness.publish(report(["Task": ["owner"]]), to: harness.topology.outcomes)
            // What is sent after it has been dealt with.
            try await harness.store.insert(
                AppRecord(id: "other", syncMode: .flexible, createdAt: 1), rules: #"{"defaultRoles":"readAll"}"#)
            var last = report(["Task": ["owner"]])
            last.app = "other"
            try await harness.publish(last, to: harness.topology.outcomes)
            try await eventually { try await harness.store.app("other")?.rulesVersion == 2 }
            try await expectEqual(harness.store.app("tasks")?.rulesVersion, 1)
        }
    }
}
