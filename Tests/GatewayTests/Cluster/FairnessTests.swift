import TestSupport
import Testing

@testable import Gateway

/// What one app may take of what all share.
@Suite struct FairnessTests {
    @Test func anAppAloneMayUseTheWholeUploadBudget() {
        let budget = UploadBudget(limit: 100, metrics: GatewayMetrics())
        // Also an upload that is larger than the whole budget, if nothing else is under way.
        expectTrue(budget.hasRoom(for: 1_000, of: "flood"))
        budget.change(by: 99, app: "flood")
        expectTrue(budget.hasRoom(for: 1, of: "flood"))
        expectTrue(!budget.hasRoom(for: 2, of: "flood"))
        budget.change(by: -99, app: "flood")
        expectTrue(budget.hasRoom(for: 1_000, of: "flood"))
    }

    @Test func theAppsWithTheMostUnderWayAreTold() {
        let budget = UploadBudget(limit: 100, metrics: GatewayMetrics())
        expectEqual(budget.largest(2), [:])
        for (app, bytes) in [("a", 5), ("b", 30), ("c", 20)] { budget.change(by: bytes, app: app) }
        expectEqual(budget.largest(2), ["b": 30, "c": 20])
        budget.change(by: -30, app: "b")
        expectEqual(budget.largest(9), ["a": 5, "c": 20])
    }

    @Test func aFloodOfUploadsFromOneAppHoldsUpNoOther() {
        let budget = UploadBudget(limit: 100, metrics: GatewayMetrics())
        budget.change(by: 1000, app: "flood")
        expectTrue(budget.hasRoom(for: 49, of: "calm"))
        budget.change(by: 49, app: "calm")
        expectTrue(budget.hasRoom(for: 1, of: "calm"))
        expectTrue(!budget.hasRoom(for: 1, of: "flood"))
        // Until it takes its share, too.
        expectTrue(!budget.hasRoom(for: 2, of: "calm"))
        budget.change(by: -1000, app: "flood")
        expectTrue(budget.hasRoom(for: 51, of: "calm"))
        expectTrue(budget.hasRoom(for: 1, of: "flood"))
    }

    @Test func anAppWhoseOwnersDoNotAnswerLeavesTheOthersHalfOfTheRequests() {
        let table = RequestTable(limit: 10)
        func add(_ app: String, _ number: Int) -> Bool {
            table.add("\(app)-\(number)", .init(app: app, session: 1, deadline: 5, startedAt: 0))
        }
        expectEqual((0..<9).count { add("silent", $0) }, 5)
        expectEqual((0..<9).count { add("other", $0) }, 5)
        expectTrue(table.take("silent-0") != nil)
        expectTrue(!add("other", 99))
        expectTrue(add("silent", 99))
        expectEqual(table.takeExpired(at: 6).count, 10)
        expectEqual(table.count, 0)
        expectTrue(add("silent", 0))
    }
}
