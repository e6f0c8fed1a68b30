import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

@Suite struct BackoffTests {
    /// Always the least random: no jitter.
    private struct NoJitter: RandomNumberGenerator {
        func next() -> UInt64 { 0 }
    }

    private func seconds(_ delay: Backoff<RetryReason>.Delay) -> Double? {
        guard case .after(let duration) = delay else { return nil }
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    @Test func delaysDoubleUpToFiveMinutes() {
        var backoff = Backoff<RetryReason>()
        var generator = NoJitter()
        let delays = (0..<11).map { _ in seconds(backoff.next(after: .connectionEnd(.lost), using: &generator)) }
        expectEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    }

    @Test func upToAQuarterIsTakenOffAtRandom() throws {
        var backoff = Backoff<RetryReason>(
            policy: BackoffPolicy(intervalSeconds: 100, maxDelaySeconds: 100, multiplier: 2))
        var generator = SeededGenerator(seed: 1)
        var seen: [Double] = []
        for _ in 0..<200 {
            seen.append(try #require(seconds(backoff.next(after: .connectionEnd(.lost), using: &generator))))
        }
        expectTrue(seen.allSatisfy { (75...100).contains($0) })
        expectTrue((seen.max() ?? 0) - (seen.min() ?? 0) > 15)
    }

    @Test func anotherReasonOrAResetStartsAnew() {
        var backoff = Backoff<RetryReason>()
        var generator = NoJitter()
        _ = backoff.next(after: .connectionEnd(.lost), using: &generator)
        expectEqual(seconds(backoff.next(after: .connectionEnd(.lost), using: &generator)), 2)
        expectEqual(seconds(backoff.next(after: .connectionEnd(.unreachable), using: &generator)), 1)
        expectEqual(seconds(backoff.next(after: .connectionEnd(.unreachable), using: &generator)), 2)
        backoff.reset()
        expectEqual(seconds(backoff.next(after: .connectionEnd(.unreachable), using: &generator)), 1)
    }

    @Test func aPeersPolicyBeginsASeriesButDoesNotChangeOne() {
        var backoff = Backoff<RetryReason>()
        var generator = NoJitter()
        let reason = RetryReason.sessionError(.initialSyncNotCompleted)
        let policy = BackoffPolicy(intervalSeconds: 5, maxDelaySeconds: 30, multiplier: 3)
        let other = BackoffPolicy(intervalSeconds: 1, maxDelaySeconds: 1, multiplier: 1)
        expectEqual(seconds(backoff.next(after: reason, peerPolicy: policy, using: &generator)), 5)
        expectEqual(seconds(backoff.next(after: reason, peerPolicy: other, using: &generator)), 15)
        expectEqual(seconds(backoff.next(after: reason, peerPolicy: nil, using: &generator)), 30)
    }

    @Test func theExceptionsOfErrors() {
        var backoff = Backoff<RetryReason>()
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<3 {
            let delay = backoff.next(
                after: .sessionError(.sessionClosed), code: .sessionClosed, tryAgain: true,
                peerPolicy: BackoffPolicy(intervalSeconds: 50, maxDelaySeconds: 60, multiplier: 2), using: &generator)
            expectEqual(delay, .after(.seconds(1)))
        }
        expectEqual(
            backoff.next(after: .connectionError(.otherError), code: .otherError, tryAgain: false, using: &generator),
            .never)
    }

    @Test func absurdPoliciesStayWithinADay() {
        var generator = NoJitter()
        for policy in [
            BackoffPolicy(intervalSeconds: .max, maxDelaySeconds: .max, multiplier: .max),
            BackoffPolicy(intervalSeconds: .min, maxDelaySeconds: .min, multiplier: .min),
        ] {
            var backoff = Backoff<RetryReason>(policy: policy)
            for _ in 0..<5 {
                let delay = seconds(backoff.next(after: .connectionEnd(.lost), using: &generator)) ?? -1
                expectTrue((0...86_400).contains(delay))
            }
        }
    }
}
