import TestSupport
import Testing

@testable import RealmState

struct ListTrackerTests {
    @Test func insertionsAreClampedToTheOtherSidesSize() {
        var tracker = ListTracker()
        expectEqual(tracker.insert(at: 5, remoteSize: 2), 2)
        expectEqual(tracker.update(at: 5), 2)
    }

    @Test func anInsertionMovesWhatStandsBehindIt() {
        var tracker = ListTracker()
        expectEqual(tracker.insert(at: 3, remoteSize: 1), 1)
        expectEqual(tracker.insert(at: 0, remoteSize: 2), 0)
        expectEqual(tracker.update(at: 4), 2)
        expectEqual(tracker.update(at: 0), 0)
        expectTrue(!tracker.isManual)
    }

    @Test func touchingAnotherElementGivesUp() {
        var tracker = ListTracker()
        _ = tracker.insert(at: 0, remoteSize: 3)
        expectTrue(tracker.update(at: 1) == nil)
        expectTrue(tracker.needsCopy)
        expectTrue(tracker.insert(at: 0, remoteSize: 3) == nil)
        tracker.copied()
        expectTrue(!tracker.needsCopy)
        expectTrue(tracker.erase(at: 0) == nil)
    }

    @Test func erasingAnOwnElementKeepsTheOthers() {
        var tracker = ListTracker()
        _ = tracker.insert(at: 0, remoteSize: 0)
        _ = tracker.insert(at: 1, remoteSize: 1)
        expectEqual(tracker.erase(at: 0), 0)
        expectEqual(tracker.update(at: 0), 0)
        expectTrue(!tracker.isManual)
    }

    @Test func movesBetweenOwnElementsFollowBothWays() throws {
        var tracker = ListTracker()
        for index in 0..<3 { _ = tracker.insert(at: index, remoteSize: index) }
        let forward = tracker.move(from: 0, to: 2)
        expectTrue(forward?.from == 0 && forward?.to == 2)
        expectEqual(tracker.update(at: 0), 0)
        expectEqual(tracker.update(at: 2), 2)
        let back = tracker.move(from: 2, to: 0)
        expectTrue(back?.from == 2 && back?.to == 0)
        expectTrue(!tracker.isManual)
    }

    @Test func aMoveOfAForeignElementGivesUp() {
        var tracker = ListTracker()
        _ = tracker.insert(at: 0, remoteSize: 1)
        expectTrue(tracker.move(from: 0, to: 1) == nil)
        expectTrue(tracker.isManual)
    }
}
