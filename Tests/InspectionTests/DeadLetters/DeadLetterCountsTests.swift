import AMQP
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite struct DeadLetterCountsTests {
    private func entry(_ reason: String, app: String = "tasks") throws -> DeadLetterEntry {
        var message = AMQPMessage(body: "{}")
        message.properties.type = "changeset"
        message.properties.headers[DeadLetter.reasonHeader] = .string(reason)
        message.properties.headers[DeadLetter.appHeader] = .string(app)
        return DeadLetterEntry(DeadLetter(message), message, slices: try #require(SliceCount(1)))
    }

    @Test func lettersOfOneCauseCountTogetherAndTheMostFrequentCauseIsFirst() throws {
        var counts = DeadLetterCounts()
        try counts.add(entry("app nope is unknown"))
        for number in [7, 19, 300] { try counts.add(entry("changeset \(number) is none: byte \(number) of 12")) }
        try counts.add(entry("app nope is unknown", app: "shop"))
        expectEqual(counts.groups.map(\.count), [3, 1, 1])
        expectEqual(counts.groups[0].reason, "changeset N is none: byte N of N")
        expectEqual(counts.groups.map(\.app), ["tasks", "shop", "tasks"])
    }

    @Test func groupsAreBounded() throws {
        var counts = DeadLetterCounts()
        for number in 0..<DeadLetterCounts.maxGroups + 5 { try counts.add(entry("bad", app: "app-\(number)")) }
        expectEqual(counts.groups.count, DeadLetterCounts.maxGroups + 1)
        expectEqual(counts.groups[0].reason, DeadLetterCounts.others)
        expectEqual(counts.groups[0].count, 5)
    }
}
