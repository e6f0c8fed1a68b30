import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// What becomes of a realm's subscription sets, event by event.
struct SubscriptionSetsTests {
    private var sets = SubscriptionSets()
    private let task = Subscription(className: "Task", query: "TRUEPREDICATE")

    private mutating func append(_ subscriptions: [Subscription] = [], snapshot: ClientVersion = 1) -> QueryVersion {
        sets.append(subscriptions, snapshot: snapshot)
    }

    @Test mutating func aNewFileWaitsForSetZeroAndDoesNotAskForIt() {
        expectTrue(sets.latest.version == 0 && sets.latest.state == .pending)
        expectTrue(sets.active == nil && sets.activeQuerySet == QuerySet(version: 0, text: "{}"))
        expectTrue(sets.pending(after: 0) == nil)
        expectTrue(sets.awaitsBootstrap(of: 0) && !sets.awaitsBootstrap(of: 1))
        sets.bootstrapped(0)
        expectTrue(sets.outcome(of: 0) == .pending && sets.active?.version == 0)
        sets.markReached()
        expectEqual(sets.outcome(of: 0), .complete)
    }

    @Test mutating func aSetIsInForceWithItsDataAndCompleteWithTheMark() {
        let version = append([task])
        expectTrue(version == 1 && sets.pending(after: 0)?.version == 1 && sets.activeQuerySet.version == 0)
        sets.bootstrapped(1)
        expectEqual(sets.activeQuerySet, QuerySet(version: 1, queries: ["Task": "(TRUEPREDICATE)"]))
        expectTrue(sets.outcome(of: 1) == .pending && sets.pending(after: 0) == nil)
        sets.markReached()
        expectEqual(sets.outcome(of: 1), .complete)
        expectEqual(sets.outcome(of: 0), .superseded)
    }

    @Test mutating func setsThatNobodyHeardOfAndNothingWasWrittenUnderAreForgotten() {
        for snapshot in [1, 1, 2, 2, 2, 3, 4, 4] as [ClientVersion] { _ = append(snapshot: snapshot) }
        sets.forgetSuperseded(after: 4)
        // The server may yet answer up to 4; 7 says nothing that 8 does not.
        expectEqual(sets.sets.map(\.version), [0, 1, 2, 3, 4, 5, 6, 8])
        sets.forgetSuperseded(after: 0)
        expectEqual(sets.sets.map(\.version), [0, 2, 5, 6, 8])
        expectTrue(sets.outcome(of: 7) == .superseded && sets.latest.version == 8)
    }

    @Test mutating func theServerMaySkipASetAndMayNotGoBack() {
        _ = append()
        _ = append()
        expectEqual(sets.pending(after: 1)?.version, 2)
        sets.bootstrapped(2)
        expectEqual(sets.sets.map(\.version), [2])
        expectTrue(sets.outcome(of: 1) == .superseded && !sets.awaitsBootstrap(of: 1))
        // The data of the set in force may come again, as when a role has changed; that changes nothing of the set.
        sets.markReached()
        expectTrue(sets.awaitsBootstrap(of: 2))
        sets.bootstrapped(2)
        expectEqual(sets.outcome(of: 2), .complete)
    }

    @Test mutating func aRefusedSetLeavesTheOneInForce() {
        _ = append([task])
        sets.bootstrapped(1)
        _ = append()
        sets.refused(2, "no such field")
        expectEqual(sets.outcome(of: 2), .refused("no such field"))
        expectTrue(sets.active?.version == 1 && sets.latest.version == 2)
        expectTrue(sets.pending(after: 0) == nil && !sets.awaitsBootstrap(of: 2))
        sets.bootstrapped(2)
        expectEqual(sets.outcome(of: 2), .refused("no such field"))
        expectEqual(append(), 3)
        sets.bootstrapped(3)
        expectEqual(sets.sets.map(\.version), [3])
    }

    @Test mutating func aMarkWithoutDataIsAllThatIsSaidOfSetZero() {
        sets.markReached()
        expectEqual(sets.outcome(of: 0), .complete)
        _ = append()
        sets.markReached()
        expectEqual(sets.outcome(of: 1), .pending)
    }

    @Test(arguments: [false, true]) mutating func aResetCompletesWhatIsInForce(discarding: Bool) {
        _ = append([task])
        sets.bootstrapped(1)
        _ = append()
        _ = append()
        sets.reset(discarding: discarding)
        expectEqual(sets.outcome(of: 1), .complete)
        expectEqual(sets.outcome(of: 2), (discarding ? .superseded : .pending))
        expectEqual(sets.latest.version, (discarding ? 1 : 3))
    }

    @Test mutating func aResetBeforeTheFirstDataCompletesSetZero() {
        _ = append([task])
        sets.reset(discarding: false)
        expectTrue(sets.outcome(of: 0) == .complete && sets.outcome(of: 1) == .pending)
    }

    @Test mutating func startingOverAsksForWhatTheAppWanted() {
        _ = append()
        sets.bootstrapped(1)
        _ = append([task])
        sets.refused(2, "no")
        sets.startOver()
        expectTrue(sets.active == nil && sets.awaitsBootstrap(of: 0))
        expectTrue(sets.pending(after: 0)?.version == 2 && sets.latest.subscriptions == [task])
    }

    @Test func theQueriesOfAClassAreOne() {
        func one(_ name: String, _ query: String) -> Subscription {
            Subscription(name: name, className: name.hasPrefix("d") ? "Dog" : "Person", query: query)
        }
        let set = SubscriptionSet(
            version: 3, snapshot: 1,
            subscriptions: [
                one("d1", #"name == "Rex""#), one("d2", "age > 3"), one("d3", #"name == "Rex""#),
                one("p", "TRUEPREDICATE"),
            ])
        expectEqual(set.querySet.text, #"{"Dog":"(age > 3) OR (name == \"Rex\")","Person":"(TRUEPREDICATE)"}"#)
        expectTrue(set.querySet.version == 3 && set.classNames == ["Dog", "Person"])
    }
}
