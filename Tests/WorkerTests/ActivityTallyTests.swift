import Messages
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite struct ActivityTallyTests {
    private let slice = SliceNumber(3)

    private func realm(_ partition: String, app: String = "tasks") -> RealmName {
        RealmName(app: app, partition: partition)
    }

    @Test func theBusiestComeFirstAndWhatIsLongAgoIsForgotten() {
        let tally = ActivityTally()
        expectTrue(tally.activity(of: slice, at: 0) == nil)
        for (number, count) in [5, 9, 1, 3, 7, 2].enumerated() {
            tally.integrated(count, into: realm("\(number)"), at: 1_000)
        }
        tally.integrated(30, into: realm("x", app: "shop"), at: 1_000)
        tally.integrated(0, into: realm("y", app: "nothing"), at: 1_000)
        let activity = tally.activity(of: slice, at: 1_000)
        expectTrue(activity?.slice == slice && activity?.realms.map(\.changesets) == [30, 9, 7, 5, 3])
        expectEqual(activity?.realms.first?.realm, realm("x", app: "shop"))
        expectEqual(activity?.apps, [.init(app: "shop", changesets: 30), .init(app: "tasks", changesets: 27)])
        // After five minutes little more than a third is left, and after an hour nothing.
        expectEqual(tally.activity(of: slice, at: 301_000)?.apps.first?.changesets, 11)
        expectTrue(tally.activity(of: slice, at: 3_600_000) == nil)
        // A clock that is put back does not make more of it.
        expectEqual(tally.activity(of: slice, at: 0)?.apps.first?.changesets, 30)
    }

    @Test func aSteadyRateIsWhatComesInFiveMinutes() {
        let tally = ActivityTally()
        for second in 0..<3_600 { tally.integrated(2, into: realm("a"), at: UInt64(second) * 1_000) }
        let changesets = tally.activity(of: slice, at: 3_600_000)?.apps.first?.changesets ?? 0
        expectTrue((595...605).contains(changesets))
    }

    @Test func howManyAreRememberedIsBounded() {
        let tally = ActivityTally()
        tally.integrated(1_000, into: realm("busy"), at: 1)
        for number in 0..<1_000 { tally.integrated(1, into: realm("\(number)", app: "app-\(number)"), at: 1) }
        tally.integrated(500, into: realm(String(repeating: "p", count: 201)), at: 2)
        let activity = tally.activity(of: slice, at: 2)
        expectEqual(activity?.realms.first, .init(realm: realm("busy"), changesets: 1_000))
        expectTrue(activity?.realms.count == ActivityTally.told && activity?.apps.count == ActivityTally.told)
        // A realm whose name is too long to be told counts for its app.
        expectEqual(activity?.apps.first, .init(app: "tasks", changesets: 1_500))
        expectEqual(activity?.realms.contains { $0.realm.partition.count > 200 }, false)
    }

    @Test func refusalsAreCountedByApp() {
        let tally = ActivityTally()
        tally.refusedMerge(app: "tasks")
        tally.refusedByQuota(app: "tasks")
        tally.refusedByQuota(app: "shop")
        let activity = tally.activity(of: slice, at: 9)
        expectTrue(activity?.realms == [] && activity?.apps == [])
        expectEqual(
            activity?.refusals, [.init(app: "tasks", merges: 1, quotas: 1), .init(app: "shop", merges: 0, quotas: 1)])
        for number in 0..<1_000 { tally.refusedMerge(app: "app-\(number)") }
        expectEqual(tally.activity(of: slice, at: 9)?.refusals.count, ActivityTally.told)
    }
}
