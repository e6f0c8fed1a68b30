import TestSupport
import Testing

@testable import DeviceSync

/// When a connection sends PING, and when it is dead.
struct KeepaliveTests {
    /// Makes every random number the smallest of its range. (Zero would be rejected for ever.)
    private struct Low: RandomNumberGenerator {
        func next() -> UInt64 { 1 }
    }
    private var random = Low()
    private var keepalive = Keepalive(period: .seconds(60), timeout: .seconds(120))

    @Test mutating func connectionPingsAfterItsWait() {
        let wait = keepalive.connected(using: &random)
        expectEqual(wait.duration, .zero)
        expectEqual(keepalive.elapsed(wait.number), .pingIsDue)
    }

    @Test mutating func pongInTimeStartsTheNextWait() throws {
        _ = keepalive.connected(using: &random)
        let late = keepalive.pinged(at: 1_000_000_000)
        expectEqual(late.duration, .seconds(120))
        expectTrue(keepalive.awaitsPong)
        let next = try #require(keepalive.ponged(at: 5_000_000_000, using: &random))
        expectEqual(next.duration, .seconds(50))
        expectEqual(keepalive.roundTrip, 4000)
        expectTrue(!keepalive.awaitsPong)
        expectTrue(keepalive.elapsed(late.number) == nil)
        expectEqual(keepalive.elapsed(next.number), .pingIsDue)
    }

    @Test mutating func pongThatTookLongerThanThePeriodIsFollowedByPingAtOnce() throws {
        _ = keepalive.pinged(at: 0)
        try expectEqual(#require(keepalive.ponged(at: 100_000_000_000, using: &random)).duration, .zero)
    }

    @Test mutating func missingPongMeansDeath() {
        _ = keepalive.connected(using: &random)
        expectEqual(keepalive.elapsed(keepalive.pinged(at: 0).number), .connectionIsDead)
    }

    @Test mutating func nothingCountsOnceTheConnectionIsGone() {
        let wait = keepalive.pinged(at: 0)
        keepalive.disconnected()
        expectTrue(!keepalive.awaitsPong)
        expectTrue(keepalive.elapsed(wait.number) == nil)
        expectTrue(keepalive.ponged(at: 1, using: &random) == nil)
    }
}
