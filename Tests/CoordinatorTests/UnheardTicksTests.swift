import TestSupport
import Testing

@testable import Coordinator

struct UnheardTicksTests {
    @Test("a slice whose ticks were all in vain gets another one, but not at the coordinator's pace")
    func another() {
        var ticks = UnheardTicks()
        for number in 0..<UnheardTicks.maximum {
            expectTrue(ticks.allowAnother(at: 1_000 + UInt64(number)))
            ticks.sent(at: 1_000 + UInt64(number))
        }
        let last = 1_000 + UInt64(UnheardTicks.maximum) - 1
        expectTrue(!ticks.allowAnother(at: last + 1))
        expectTrue(!ticks.allowAnother(at: last + UnheardTicks.interval - 1))
        expectTrue(ticks.allowAnother(at: last + UnheardTicks.interval))
        ticks.sent(at: last + UnheardTicks.interval)
        expectTrue(!ticks.allowAnother(at: last + UnheardTicks.interval + 500))
    }

    @Test("a clock that is put back does not silence the ticks")
    func clock() {
        var ticks = UnheardTicks()
        for _ in 0..<UnheardTicks.maximum { ticks.sent(at: 1_000_000) }
        expectTrue(ticks.allowAnother(at: 999_000))
    }
}
