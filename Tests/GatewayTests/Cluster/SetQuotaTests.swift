import Query
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Gateway

/// What subscription sets may take of a gateway's memory, and looking at commits of its time.
@Suite struct SetQuotaTests {
    @Test func aUserAndAnAppHaveSoMuch() {
        let quotas = SetQuotas(settings: QuotaValues([.userSetBytes: 100, .setBytes: 250]))
        let (one, two, three) = (
            AppUser(app: "a", user: "1"), AppUser(app: "a", user: "2"), AppUser(app: "a", user: "3")
        )
        expectTrue(quotas.set(1, of: one, to: 60, in: nil) == nil)
        expectTrue(quotas.set(2, of: one, to: 40, in: nil) == nil)
        expectTrue(quotas.set(3, of: one, to: 1, in: nil)?.quota == .userSetBytes)
        expectTrue(quotas.add(1, of: one, ahead: 1, in: nil)?.limit == 100)
        // Less is always possible, and what is refused is not noted.
        expectTrue(quotas.set(1, of: one, to: 50, in: nil) == nil && quotas.bytes == 90)
        expectTrue(quotas.add(1, of: one, ahead: 10, in: nil) == nil && quotas.bytes == 100)
        expectTrue(quotas.set(4, of: two, to: 100, in: nil) == nil)
        expectTrue(quotas.set(5, of: three, to: 51, in: nil)?.quota == .setBytes)
        expectTrue(quotas.set(5, of: AppUser(app: "b", user: "3"), to: 51, in: nil) == nil)
        for session in 1...5 as ClosedRange<UInt64> { quotas.forget(session) }
        expectTrue(quotas.isEmpty && quotas.bytes == 0)
    }

    @Test func spentAllowanceComesBackWithTime() {
        var limits = EvaluationLimits()
        limits.stepsPerRealm = 1_000
        limits.stepsPerRealmAndMillisecond = 10
        let allowance = EvaluationAllowance(limits)
        expectEqual(allowance.rest(at: 5), 1_000)
        allowance.take(1_500)
        expectEqual(allowance.rest(at: 5), 0)
        expectEqual(allowance.rest(at: 55), 0)
        expectEqual(allowance.rest(at: 65), 100)
        // Nobody is made to pay for longer than it takes to have everything again.
        allowance.take(1_000_000)
        expectEqual(allowance.rest(at: 65 + 200), 1_000)
        // A clock that was put back brings nothing.
        allowance.take(400)
        expectEqual(allowance.rest(at: 3), 600)
        expectEqual(allowance.rest(at: .max), 1_000)
    }
}
