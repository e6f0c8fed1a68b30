import TestSupport
import Testing

@testable import Load

@Suite struct LoadReportTests {
    private func report(_ change: (LoadLedger) -> Void) -> LoadReport {
        let ledger = LoadLedger(LoadPlan(app: "load", clients: 4, sharing: 2, run: "r"))
        ledger.measure(from: 0, to: 1_000_000_000)
        for client in 0..<4 { ledger.isLive(client, after: 5_000_000) }
        change(ledger)
        return ledger.report(seconds: 1)
    }

    private func effects(acknowledged: [Int64] = [], delivered: [Int64] = []) -> LoadSession.Effects {
        var effects = LoadSession.Effects()
        effects.acknowledged = acknowledged
        effects.delivered = delivered
        return effects
    }

    @Test func aCompleteRunPassesAndItsTimesAreMeasured() {
        var report = report { ledger in
            ledger.sent(0, at: 10)
            ledger.saw(effects(acknowledged: [10]), 0, at: 20_000_010)
            ledger.saw(effects(delivered: [10]), 1, at: 40_000_010)
        }
        report.judge(by: .init(acknowledgedWithin: 25, deliveredWithin: 45))
        expectEqual(report.shortfalls, [])
        expectEqual([report.sent, report.acknowledged, report.delivered, report.notDelivered], [1, 1, 1, 0])
        expectTrue((report.acknowledging.p99 ?? 0) >= 20 && (report.acknowledging.p99 ?? 0) < 20.5)
        report.judge(by: .init(acknowledgedWithin: 15))
        expectEqual(report.shortfalls.count, 1)
    }

    @Test func whatIsMissingIsNamed() {
        var report = report { ledger in
            ledger.sent(0, at: 10)
            ledger.sent(2, at: 10)
            ledger.saw(effects(acknowledged: [10]), 0, at: 20)
            ledger.heldBack()
            ledger.failed("close code 4001")
        }
        report.judge(by: .init())
        expectEqual(
            report.shortfalls,
            [
                "1 changeset was not acknowledged", "2 changesets did not reach another client",
                "1 changeset was not written: too many waited", "1 error",
            ])
    }

    @Test func writesBeforeAndAfterTheMeasuringCountForNothingButCompleteness() {
        let report = report { ledger in
            ledger.sent(0, at: 2_000_000_000)
            ledger.saw(effects(acknowledged: [2_000_000_000]), 0, at: 2_000_000_500)
            ledger.saw(effects(delivered: [2_000_000_000]), 1, at: 2_000_000_500)
        }
        expectEqual([report.sent, report.acknowledged, report.delivered, report.notAcknowledged], [0, 0, 0, 0])
        expectEqual(report.acknowledging.count, 0)
    }
}
