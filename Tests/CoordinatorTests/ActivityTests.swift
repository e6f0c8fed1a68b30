import Testing

@testable import Coordinator

@Suite struct ActivityTests {
    @Test func theFirstDeliveryMakesItActive() {
        var activity = Activity(patience: 100)
        #expect(!activity.isActive)
        let news = [activity.delivered(at: 1), activity.delivered(at: 2)]
        #expect(news == [true, false])
        #expect(activity.isActive)
    }

    @Test func aLostConsumerOrSilenceMakesItStandBy() {
        var activity = Activity(patience: 100)
        _ = activity.delivered(at: 1)
        let early = activity.passed(to: 101)
        #expect(!early && activity.isActive)
        let late = activity.passed(to: 102)
        #expect(late && !activity.isActive)
        _ = activity.delivered(at: 200)
        let lost = [activity.lost(), activity.lost()]
        #expect(lost == [true, false])
    }

    @Test func aClockThatGoesBackIsNoSilence() {
        var activity = Activity(patience: 100)
        _ = activity.delivered(at: 1000)
        let passed = activity.passed(to: 5)
        #expect(!passed && activity.isActive)
    }
}
