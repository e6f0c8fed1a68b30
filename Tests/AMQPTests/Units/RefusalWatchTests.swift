import Loops
import TestSupport
import Testing

@testable import AMQP

struct RefusalWatchTests {
    private func at(tenths: UInt64) -> Monotonic { Monotonic(nanoseconds: tenths * 100_000_000) }

    @Test func refusalsThatGoOnOpenTheChannelAgainEverMoreSlowly() {
        var watch = RefusalWatch()
        var reopenings: [UInt64] = []
        for tick in 0..<2_000 as Range<UInt64> where watch.refused(at: at(tenths: 100 + tick)) {
            reopenings.append(tick)
        }
        // After 1 s, 2 s, 4 s and so on, each counted from the first refusal on the new channel.
        expectEqual(reopenings, [10, 31, 72, 153, 314, 635, 1236, 1837])
    }

    @Test func oneThatComesAloneDoesNot() {
        var watch = RefusalWatch()
        let first = watch.refused(at: at(tenths: 100))
        watch.opened()
        let second = watch.refused(at: at(tenths: 200))
        // After so long it is about something else.
        let third = watch.refused(at: at(tenths: 200 + 1_210))
        expectTrue(!first && !second && !third)
    }
}
