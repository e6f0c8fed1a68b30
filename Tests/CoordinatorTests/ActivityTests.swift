import TestSupport
import Testing

@testable import Coordinator

@Suite struct ActivityTests {
    @Test func theFirstDeliveryMakesItActive() {
        var activity = Activity(patience: 100)
        expectTrue(!activity.isActive)
        let news = [activity.delivered(at: 1), activity.delivered(at: 2)]
        expectEqual(news, [true, false])
        expectTrue(activity.isActive)
    }

    @Test func aLostConsumerOrSilenceMakesItStandBy() {
        var activity = Activity(patience: 100)
        _ = activity.delivered(at: 1)
        let early = activity.passed(to: 101)
        expectTrue(!early && activity.isActive)
        let late = activity.passed(to: 102)
        expectTrue(late && !activity.isActive)
        _ = activity.delivered(at: 200)
        let lost = [activity.lost(), activity.lost()]
        expectEqual(lost, [true, false])
    }

    @Test func aClockThatGoesBackIsNoSilence() {
        var activity = Activity(patience: 100)
        _ = activity.delivered(at: 1000)
        let passed = activity.passed(to: 5)
        expectTrue(!passed && activity.isActive)
    }
}
