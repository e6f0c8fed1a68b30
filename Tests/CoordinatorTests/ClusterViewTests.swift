import AdminAPI
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct ClusterViewTests {
    private func beat(
        _ worker: String, owns: [Int] = [], standsBy: [Int] = [], epoch: UInt64 = 1, at: UInt64 = 10,
        isStaying: Bool = true
    ) -> HeartbeatMessage {
        HeartbeatMessage(
            worker: worker, at: at, owns: owns.map(SliceNumber.init), standsBy: standsBy.map(SliceNumber.init),
            epochs: Dictionary(uniqueKeysWithValues: owns.map { (String($0), epoch) }), load: 1.5,
            isStaying: isStaying)
    }

    private func slices(_ view: ClusterView, at now: UInt64) throws -> [SliceDocument] {
        view.slices(try #require(SliceCount(2)), at: now)
    }

    @Test func slicesTellTheirOwnerAndStandBy() throws {
        var view = ClusterView()
        view.heard(beat("a", owns: [0], standsBy: [1], epoch: 7), at: 1000)
        let all = try slices(view, at: 1001)
        expectTrue(all[0].owner == "a" && all[0].epoch == 7 && all[0].lastHeardAt == 1000)
        expectTrue(all[1].owner == nil && all[1].standBy == ["a"])
    }

    @Test func slicesWithoutAnOwnerAndWithoutAStandbyAreCounted() throws {
        var view = ClusterView()
        let count = try #require(SliceCount(3))
        expectEqual(view.standing(of: count, at: 1000).withoutStandby, 3)
        view.heard(beat("a", owns: [0, 1], standsBy: [2]), at: 1000)
        view.heard(beat("b", standsBy: [0]), at: 1000)
        expectEqual(
            view.standing(of: count, at: 1001), ClusterView.Standing(ownerless: [SliceNumber(2)], withoutStandby: 1))
        expectEqual(
            view.standing(of: count, at: 1000 + ClusterView.silence),
            ClusterView.Standing(ownerless: count.all.map(\.self), withoutStandby: 3))
    }

    @Test func aSlicesActivityIsTakenFromItsOwner() throws {
        var view = ClusterView()
        func busy(_ changesets: Int) -> [SliceActivity] {
            [SliceActivity(slice: SliceNumber(0), apps: [.init(app: "tasks", changesets: changesets)])]
        }
        for (worker, epoch, changesets) in [("a", UInt64(4), 7), ("b", 5, 9), ("c", 3, 1)] {
            var message = beat(worker, owns: [0], epoch: epoch)
            message.activity = busy(changesets)
            view.heard(message, at: 1000)
        }
        expectEqual(view.activity(of: SliceNumber(0), at: 1001)?.apps.map(\.changesets), [9])
        expectTrue(view.activity(of: SliceNumber(1), at: 1001) == nil)
        expectTrue(view.activity(of: SliceNumber(0), at: 1000 + ClusterView.silence) == nil)
        view.heard(beat("b", owns: [0], epoch: 6), at: 1002)
        expectTrue(view.activity(of: SliceNumber(0), at: 1003) == nil)
    }

    @Test func ofTwoOwnersTheLaterEpochIsRight() throws {
        for order in [["a", "b"], ["b", "a"]] {
            var view = ClusterView()
            for name in order { view.heard(beat(name, owns: [0], epoch: name == "b" ? 5 : 4), at: 1000) }
            try expectEqual(slices(view, at: 1000)[0].owner, "b")
        }
    }

    @Test func theSilentAndTheDepartedOwnNothing() throws {
        var view = ClusterView()
        view.heard(beat("a", owns: [0]), at: 1000)
        view.heard(beat("b", owns: [1], isStaying: false), at: 1000)
        try expectEqual(slices(view, at: 1000).map(\.owner), ["a", nil])
        try expectEqual(slices(view, at: 1000 + ClusterView.silence).map(\.owner), [nil, nil])
        expectEqual(view.workers().map(\.isStaying), [true, false])
    }

    @Test func aWorkerIsHeardAfterItsClockWasPutBack() throws {
        var view = ClusterView()
        view.heard(beat("a", owns: [1], at: 5_000_000), at: 1000)
        view.heard(beat("a", owns: [0], at: 1001), at: 1001)
        try expectEqual(slices(view, at: 1001).map(\.owner), ["a", nil])
    }

    @Test func numbersFromOutsideDoNotTrap() throws {
        var view = ClusterView()
        var odd = beat("a", owns: [0], standsBy: [-1, 99, Int.max])
        odd.owns += [SliceNumber(-5), SliceNumber(4097)]
        odd.load = .infinity
        view.heard(odd, at: 1000)
        try expectEqual(slices(view, at: 1000)[0].owner, "a")
        expectEqual(view.workers()[0].load, 0)
    }

    @Test func workersAreForgottenAndBounded() {
        var view = ClusterView()
        view.heard(beat("old"), at: 0)
        for number in 0..<(ClusterView.maxWorkers + 5) { view.heard(beat("w\(number)"), at: 1000 + UInt64(number)) }
        expectEqual(view.workers().count, ClusterView.maxWorkers)
        view.heard(beat("late"), at: 1000 + 2 * ClusterView.memory)
        expectEqual(view.workers().map(\.worker), ["late"])
    }
}
