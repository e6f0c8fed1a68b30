import Messages
import TestSupport
import Testing

@testable import Gateway

@Suite struct AppTotalsTests {
    @Test func totalsAreToldWithTheSessionsOfNow() {
        let totals = AppTotals()
        totals.add(to: "tasks") { $0.changesets += 2 }
        totals.add(to: "tasks") { $0.changesets += 3 }
        expectEqual(
            totals.largest(5, sessions: ["notes": 4]),
            ["tasks": AppFigures(changesets: 5), "notes": AppFigures(sessions: 4)])
        // Sessions are those of the moment: what was there before is gone.
        expectEqual(totals.largest(5, sessions: [:]), ["tasks": AppFigures(changesets: 5)])
    }

    @Test func ofManyAppsThoseWithTheMostAreTold() {
        let totals = AppTotals()
        for (app, changesets) in [("a", 1), ("b", 9), ("c", 5)] as [(String, UInt64)] {
            totals.add(to: app) { $0.changesets = changesets }
        }
        expectEqual(Set(totals.largest(2, sessions: ["c": 1, "d": 1]).keys), ["c", "d"])
        expectEqual(Set(totals.largest(2, sessions: [:]).keys), ["b", "c"])
    }

    @Test func appsAreBounded() {
        let totals = AppTotals()
        for number in 0...AppTotals.most { totals.add(to: "\(number)") { $0.changesets = 1 } }
        expectEqual(totals.largest(.max, sessions: [:]).count, AppTotals.most)
        totals.add(to: "0") { $0.changesets = 7 }
        expectEqual(totals.largest(.max, sessions: [:])["0"], AppFigures(changesets: 7))
    }
}
