import Testing

@testable import Gateway

/// What one app may take of what all share.
@Suite struct FairnessTests {
    @Test func anAppAloneMayUseTheWholeUploadBudget() {
        let budget = UploadBudget(limit: 100, metrics: GatewayMetrics())
        budget.change(by: 99, app: "flood")
        #expect(!budget.isSpent(for: "flood"))
        budget.change(by: 1, app: "flood")
        #expect(budget.isSpent(for: "flood"))
    }

    @Test func aFloodOfUploadsFromOneAppHoldsUpNoOther() {
        let budget = UploadBudget(limit: 100, metrics: GatewayMetrics())
        budget.change(by: 1000, app: "flood")
        #expect(!budget.isSpent(for: "calm"))
        budget.change(by: 49, app: "calm")
        #expect(!budget.isSpent(for: "calm"))
        #expect(budget.isSpent(for: "flood"))
        // Until it takes its share, too.
        budget.change(by: 1, app: "calm")
        #expect(budget.isSpent(for: "calm"))
        budget.change(by: -1000, app: "flood")
        #expect(!budget.isSpent(for: "calm"))
        #expect(!budget.isSpent(for: "flood"))
    }

    @Test func anAppWhoseOwnersDoNotAnswerLeavesTheOthersHalfOfTheRequests() {
        let table = RequestTable(limit: 10)
        func add(_ app: String, _ number: Int) -> Bool {
            table.add("\(app)-\(number)", .init(app: app, session: 1, deadline: 5, startedAt: 0))
        }
        #expect((0..<9).count { add("silent", $0) } == 5)
        #expect((0..<9).count { add("other", $0) } == 5)
        #expect(table.take("silent-0") != nil)
        #expect(!add("other", 99))
        #expect(add("silent", 99))
        #expect(table.takeExpired(at: 6).count == 10)
        #expect(table.count == 0)
        #expect(add("silent", 0))
    }
}
