import AdminAPI
import Foundation
import Logging
import MemoryStorage
import Messages
import MessagingSupport
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Coordinator

/// What comes by the queues is in the audit log, as what comes by the admin API is.
@Suite(.needsBroker, .hangGuard) struct QueueAuditTests {
    private func entries(_ coordinator: RunningCoordinator) async throws -> [AuditEntry] {
        try await all(coordinator).filter { $0.token == "queue" }
    }

    private func all(_ coordinator: RunningCoordinator) async throws -> [AuditEntry] {
        let answer = try await coordinator.request("GET", "audit")
        return try JSONDecoder().decode(AuditList.self, from: Data(answer.text.utf8)).entries
    }

    @Test func aPublishedTerminationAndWhatAShellDoesAreThereOnce() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", syncMode: .partition, createdAt: 1), rules: nil)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                // Two slices report the campaign, which nobody has recorded; a redelivery changes nothing.
                for slice in [0, 1, 1] {
                    try await harness.publish(
                        harness.found([FileIdent(UInt64(7 + slice))], campaign: "c9", slice: slice),
                        to: harness.topology.outcomes)
                }
                let report = LettersReport(
                    action: .dropped, count: 2, letters: ["5f0c9a3be277", "5f0c9a3be278"], by: "ann@shell", at: 17)
                for _ in 0..<2 { try await harness.publish(report, to: harness.topology.outcomes) }
                try await eventually { try await entries(coordinator).count == 2 }
                // The two come by different queues, in any order.
                let found = try await entries(coordinator).sorted { $0.path < $1.path }
                expectTrue(found.allSatisfy { $0.method == "PUBLISH" && $0.status == 200 && $0.address == nil })
                expectEqual(
                    found.map(\.path),
                    ["/api/admin/v1/apps/tasks/sync/terminate", "/api/admin/v1/dead-letters/drop"])
                expectEqual(
                    found[1].details,
                    "2 dead letters dropped by ann@shell (its own word) at 17: 5f0c9a3be277, 5f0c9a3be278")
                expectEqual(found[0].details?.contains(#"campaign="c9", generation=2"#), true)
            }
        }
    }

    @Test func aDryRunIsMarkedHoweverItWasAskedFor() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", syncMode: .partition, createdAt: 1), rules: nil)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                _ = try await coordinator.request("DELETE", "apps/tasks?dryRun=true")
                _ = try await coordinator.request(
                    "POST", "apps/tasks/schema/prune", #"{"dryRun":true}"#)
                _ = try await coordinator.request("POST", "apps/tasks/schema/prune", #"{"dryRun":false}"#)
                try await expectEqual(all(coordinator).prefix(3).map { $0.dryRun ?? false }, [false, true, true])
            }
        }
    }

    /// A coordinator that dies before it has told the broker of a report gets it once more, and finds the campaign recorded.
    @Test func anEntryIsWrittenWithItsCampaignOrNotAtAll() async throws {
        let store = MemoryControlStore()
        try await store.insert(AppRecord(id: "tasks", createdAt: 1))
        let audit = QueueAudit(store: store, clock: WallClock { 7 }, logger: Logger(label: "test"))
        func report(_ campaign: String, app: String = "tasks", kind: String = "termination") -> CampaignReport {
            .found(
                FoundReport(
                    kind: kind, campaign: campaign, app: app, slice: SliceNumber(0), generation: 2, reason: nil,
                    chunk: 0,
                    chunks: 1, clientRealms: []))
        }
        func apply(_ reports: CampaignReport...) async throws -> [String] {
            _ = try await store.applyWhatItCan(reports, slices: 1, at: 7, noting: { audit.entries(of: $0) })
            return try await store.auditEntries(before: nil, limit: 100).map { $0.details ?? "" }
        }
        let entry = #"campaign="c1", generation=2"#
        try await expectEqual(apply(report("c1")), [entry])
        // The broker brings it once more: it is recorded by now.
        try await expectEqual(apply(report("c1")), [entry])
        // What is refused has changed nothing, and accounts are nobody's wish.
        try await expectEqual(apply(report("c2", app: "other"), report("c3", kind: "account")), [entry])
    }

    /// Publishing cannot have the log forget what others did.
    @Test func noMoreThanSoManyAreTakenInAnHour() async throws {
        let store = MemoryControlStore()
        let now = Mutex<UInt64>(1_000)
        let audit = QueueAudit(store: store, clock: WallClock { now.withLock(\.self) }, logger: Logger(label: "test"))
        for number in 0..<QueueAudit.perHour + 20 {
            try await audit.note(
                LettersReport(action: .requeued, count: 1, letters: ["x"], by: "ann@shell", at: UInt64(number)))
        }
        try await expectEqual(store.auditEntries(before: nil, limit: 10_000).count, QueueAudit.perHour)
        now.withLock { $0 += 3_600_000 }
        try await audit.note(
            LettersReport(action: .requeued, count: 1, letters: ["x"], by: "ann@shell", at: 99_999))
        try await expectEqual(store.auditEntries(before: nil, limit: 10_000).count, QueueAudit.perHour + 1)
    }
}
