import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

@Suite struct FlexibleSubscriptionsTests {
    @Test func setsThatWerePassedOverAreNotKeptWithoutEnd() {
        var subscriptions = FlexibleSubscriptions(roles: "R")
        for version in 1...100 as ClosedRange<UInt64> {
            expectTrue(subscriptions.ask(for: QuerySet(version: QueryVersion(version), text: "{}")) == nil)
        }
        var asked: [UInt64] = []
        while let request = subscriptions.nextRequest() {
            asked.append(request.version)
            subscriptions.refused()
        }
        expectEqual(asked, (84...100).reversed())
        // What a newer one has made superfluous is not asked for.
        for version in 1...3 as ClosedRange<UInt64> {
            _ = subscriptions.ask(for: QuerySet(version: QueryVersion(version), text: "{}"))
        }
        subscriptions.active = QuerySet(version: 3, text: "{}")
        _ = subscriptions.nextRequest()
        subscriptions.refused()
        expectTrue(subscriptions.nextRequest() == nil)
    }
}
