import AsyncHTTPClient
import Foundation
import NIOHTTP1
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.needsBroker, .hangGuard) struct CampaignExportTests {
    @Test func valuesAreWrittenAsSpreadsheetsReadThem() {
        expectTrue(CSV.field(.none) == "" && CSV.field(.number("-1")) == "-1")
        expectEqual(CSV.field(.text("a,\"b\"\n")), "\"a,\"\"b\"\"\n\"")
        // What would be a formula is text.
        expectEqual(
            ["=1+1", "+1", "-1", "@a", "\tb"].map { CSV.field(.text($0)) }, ["'=1+1", "'+1", "'-1", "'@a", "'\tb"])
        expectEqual(CampaignExport.fileName("tasks-\"\\;ä.1"), "tasks-____.1")
    }

    /// More client realms than a page holds, by partition and client file.
    @Test func allClientRealmsAreWrittenWhateverTheirNumber() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let path = "campaigns/c1/client-realms/export"
                try await expectEqual(coordinator.request("GET", path).status, 404)
                let request = CampaignRequest(id: "c1", app: "tasks", reason: nil, at: 10)
                _ = try await harness.store.terminate(request, enable: true, slices: 1)
                _ = try await harness.store.campaignPublished("c1", at: 11)
                func rows(_ text: String) -> [Substring] { text.split(separator: "\r\n").dropFirst().map(\.self) }
                expectTrue(rows(try await coordinator.request("GET", path).text).isEmpty)
                let none = try await coordinator.request("GET", "\(path)?format=json")
                expectEqual(none.text, "[\n]\n")
                var reports = (0..<25).map { chunk in
                    found(
                        (0..<100).map { FileIdent(rawValue: UInt64(2 + chunk * 100 + $0)) }, chunk: chunk, chunks: 25,
                        partition: chunk < 20 ? "\"nw\"" : "\"se\"")
                }
                reports.append(.outcome(report(7, .recovered)))
                _ = try await harness.store.apply(reports, slices: 1, at: 20)
                let all = rows(try await coordinator.request("GET", path).text)
                expectTrue(all.count == 2_500 && Set(all).count == 2_500)
                expectTrue(all[5].hasPrefix("\"\"\"nw\"\"\",7,u1,recovered,50,20,") && all[5].contains(",client,"))
                expectEqual(rows(try await coordinator.request("GET", "\(path)?partition=se").text).count, 500)
                expectTrue(rows(try await coordinator.request("GET", "\(path)?user=u2").text).isEmpty)
                let json = try await coordinator.request("GET", "\(path)?format=json&outcome=recovered")
                expectTrue(json["0.clientFile"] == "7" && json["1"] == nil)
                try await expectEqual(coordinator.request("GET", "\(path)?format=xml").status, 400)
                let head = try await coordinator.execute("GET", path)
                expectEqual(head.headers.first(name: "Content-Disposition"), "attachment; filename=\"c1.csv\"")
            }
        }
    }

    @Test func aCampaignIsReadOnceForAllWhoWatchIt() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            let looks = CampaignLooks(store: harness.store)
            try await expectTrue(looks.campaign("c1") == nil)
            let request = CampaignRequest(id: "c1", app: "tasks", reason: nil, at: 10)
            _ = try await harness.store.terminate(request, enable: true, slices: 1)
            // What was seen a moment ago counts as new for a moment, and not for long.
            try await eventually { try await looks.campaign("c1")?.campaign.id == "c1" }
            let seen = try await withThrowingTaskGroup(of: CampaignSummary?.self) { group in
                for _ in 0..<20 { group.addTask { try await looks.campaign("c1") } }
                return try await group.reduce(into: [CampaignSummary?]()) { $0.append($1) }
            }
            expectTrue(seen.count == 20 && seen.allSatisfy { $0 == seen[0] })
        }
    }
}
