import Messages
import TestSupport
import Testing

@testable import Worker

/// How far a slice is behind, and whether it stands still.
struct SliceProgressTests {
    @Test func aSliceStandsStillFromWhenItLastDealtWithAMessage() {
        var progress = SliceProgress()
        expectEqual(progress.standing(at: 5_000), 0)
        progress.take(3, waiting: 0, sentAt: [], at: 10_000)
        expectEqual(progress.standing(at: 12_000), 2_000)
        // More that come are no progress.
        progress.take(2, waiting: 3, sentAt: [], at: 13_000)
        expectTrue(progress.inHand == 5 && progress.standing(at: 14_000) == 4_000)
        progress.deal(with: 0, left: 5, sentAt: [], at: 15_000)
        expectEqual(progress.standing(at: 15_000), 5_000)
        progress.deal(with: 2, left: 3, sentAt: [], at: 16_000)
        expectTrue(progress.standing(at: 16_500) == 500 && progress.handled == 2)
        // A clock that goes back is no standstill.
        expectEqual(progress.standing(at: 1), 0)
        progress.deal(with: 3, left: 0, sentAt: [], at: 17_000)
        expectEqual(progress.standing(at: 90_000), 0)
    }

    @Test func theLagIsThatOfTheOldestInHand() {
        let start = ContinuousClock.now
        var progress = SliceProgress(at: start)
        progress.take(2, waiting: 0, sentAt: [7, 5], at: 1)
        progress.take(1, waiting: 2, sentAt: [3], at: 2)
        // The messages that wait were there before.
        expectEqual(progress.lag(at: start + .seconds(1)).oldestAt, 5_000)
        progress.deal(with: 2, left: 1, sentAt: [3], at: 3)
        let lag = progress.lag(at: start + .seconds(3))
        expectTrue(lag.oldestAt == 3_000 && lag.perSecond == 1)
        expectEqual(progress.lag(at: start + .seconds(4)).perSecond, 0)
        progress.giveBack()
        expectTrue(progress.inHand == 0 && progress.lag(at: start + .seconds(5)).oldestAt == nil)
    }
}
