import Messages
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct ResetPaceTests {
    private static func pace(_ clientRealms: Int, limits: WorkerLimits = WorkerLimits()) -> ResetPace {
        ResetPace(generation: 2, startedAt: 1_000_000, clientRealms: clientRealms, limits: limits)
    }

    @Test func aFewComeBackAtOnce() {
        let pace = Self.pace(100)
        expectEqual(pace.window, 0)
        expectTrue(pace.wait(user: "u", partition: "p", at: 1_000_000) == nil)
    }

    @Test func theTimeGrowsWithTheirNumberUpToALongest() {
        expectEqual(Self.pace(500).window, 10_000)
        expectEqual(Self.pace(5_000).window, 100_000)
        expectEqual(Self.pace(50_000_000).window, 600_000)
    }

    @Test func theyAreSpreadEvenly() {
        let pace = Self.pace(5_000)
        var perTenth = Array(repeating: 0, count: 10)
        for user in 0..<5_000 {
            let wait = pace.wait(user: "65f\(user)ab", partition: "\"store-nw\"", at: 1_000_000) ?? 0
            perTenth[min(9, wait / 10)] += 1
        }
        expectTrue(perTenth.allSatisfy { (350...650).contains($0) }, "\(perTenth)")
    }

    @Test func nobodyIsToldTwiceHoweverEarlyItsJitterLetsItReturn() {
        let pace = Self.pace(5_000)
        for user in 0..<500 {
            for first in stride(from: UInt64(1_000_000), to: 1_100_000, by: 7_777) {
                guard let wait = pace.wait(user: "u\(user)", partition: "p", at: first) else { continue }
                let earliest = first + UInt64(wait) * 1000 * 3 / 4
                expectTrue(pace.wait(user: "u\(user)", partition: "p", at: earliest) == nil)
            }
        }
    }

    @Test func aClockThatWasPutBackKeepsNobodyOut() {
        let wait = Self.pace(5_000).wait(user: "u", partition: "p", at: 0)
        expectTrue(wait.map { $0 <= 100 } ?? true)
    }

    @Test func resettingClientsWaitForTheirTurnAndNewOnesDoNot() async throws {
        var limits = WorkerLimits()
        limits.resetsAtOnce = 3
        limits.resetsPerSecond = 1
        let harness = try await OwnerHarness.make(limits: limits)
        for user in 0..<20 { _ = try await harness.join(session: UInt64(user) + 1, user: "u\(user)") }
        try await harness.send(
            TerminationMessage(app: OwnerHarness.app, campaign: "c", generation: 2, reason: nil))
        var told: [(user: Int, seconds: Int)] = []
        for user in 0..<20 {
            let answer = try await harness.send(harness.bindRequest(session: UInt64(user) + 101, user: "u\(user)"))
            guard let refusal = try answer.every(RefusedAnswer.self).first else { continue }
            expectEqual(refusal.code, 229)
            expectEqual(refusal.action, "Transient")
            expectTrue(refusal.tryAgain)
            told.append((user, Int(try #require(refusal.backoff?.intervalSeconds))))
        }
        expectTrue((1...20).contains(told.count))
        expectTrue(told.allSatisfy { (1...20).contains($0.seconds) })
        // Somebody who was not there before.
        _ = try await harness.send(harness.bindRequest(session: 300, user: "new")).one(BoundAnswer.self)
        // Each comes back when it was told to.
        for (user, seconds) in told.sorted(by: { $0.seconds < $1.seconds }) {
            let now = harness.time.now()
            let due = 1_800_000_000_000 + UInt64(seconds) * 1000
            if now < due { harness.time.advance(due - now) }
            _ = try await harness.send(harness.bindRequest(session: UInt64(user) + 401, user: "u\(user)"))
                .one(BoundAnswer.self)
        }
    }
}
