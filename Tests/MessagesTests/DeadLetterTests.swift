import AMQP
import SyncModel
import TestSupport
import Testing

@testable import Messages

@Suite struct DeadLetterTests {
    private let realm = RealmName(app: "tasks", partition: #""a""#)

    private func draft(_ message: AMQPMessage, isOfClient: Bool, reason: String = "r", at time: UInt64 = 5)
        -> AMQPMessage
    {
        DeadLetterDraft(
            message, reason: reason, queue: "sluice.slice.1", app: "tasks", writer: isOfClient ? (realm, 7) : nil,
            diedAt: time
        ).letter
    }

    @Test func anOperatorsMessageIsKeptWhole() {
        let message = AMQPMessage(body: Array(repeating: 1, count: 1 << 20), properties: AMQPProperties(messageID: "m"))
        let letter = draft(message, isOfClient: false)
        expectEqual(letter.body, message.body)
        let read = DeadLetter(letter)
        expectTrue(!read.isExcerpt && read.length == 1 << 20 && read.queue == "sluice.slice.1" && read.diedAt == 5)
    }

    @Test func ofWhatAClientSentAnExcerptIsKept() {
        let large = AMQPMessage(body: Array(repeating: 1, count: 16 << 20))
        let letter = draft(large, isOfClient: true)
        expectEqual(letter.body.count, DeadLetterDraft.excerptBytes)
        let read = DeadLetter(letter)
        expectTrue(read.isExcerpt && read.length == 16 << 20 && read.kept == DeadLetterDraft.excerptBytes)
        expectTrue(read.partition == realm.partition && read.clientFile == 7 && read.app == "tasks")
        expectEqual(letter.properties.headers[DeadLetter.digestHeader]?.stringValue?.count, 64)
        let small = AMQPMessage(body: [1, 2, 3])
        expectEqual(draft(small, isOfClient: true).body, small.body)
    }

    @Test func aReasonIsCutAtACharacter() {
        let letter = draft(AMQPMessage(body: "x"), isOfClient: false, reason: String(repeating: "ü", count: 2_000))
        let reason = DeadLetter(letter).reason
        expectEqual(reason, String(repeating: "ü", count: 500))
    }

    @Test func contentMakesTheNameAndTimeDoesNot() {
        let message = AMQPMessage(body: "x", properties: AMQPProperties(messageID: "m"))
        let name = DeadLetter(draft(message, isOfClient: false)).name
        expectTrue(name.count == 12 && DeadLetter(draft(message, isOfClient: false, at: 9)).name == name)
        let other = AMQPMessage(body: "x", properties: AMQPProperties(messageID: "n"))
        expectTrue(DeadLetter(draft(other, isOfClient: false)).name != name)
        // Excerpts of messages that differ further on.
        var first = [UInt8](repeating: 1, count: 1 << 20)
        let one = DeadLetter(draft(AMQPMessage(body: first), isOfClient: true))
        first[first.count - 1] = 2
        expectTrue(DeadLetter(draft(AMQPMessage(body: first), isOfClient: true)).name != one.name)
    }

    @Test func anAppsClientsMakeSoManyLettersAnHour() {
        var budget = DeadLetterBudget()
        func kept(_ app: String, of tries: Int, at now: UInt64) -> Int {
            (0..<tries).count { _ in if case .keep = budget.take(app, at: now) { true } else { false } }
        }
        expectEqual(kept("a", of: 1_000, at: 0), 100)
        expectEqual(kept("b", of: 10, at: 0), 10)
        expectEqual(kept("a", of: 1_000, at: 3_600_000), 100)
        expectEqual(kept("a", of: 1_000, at: 3_600_000 + 72_000), 2)
        // A clock that has gone back gives nothing.
        expectEqual(kept("a", of: 10, at: 0), 0)
        guard case .drop(let isFirst) = budget.take("a", at: 0) else { return expectTrue(Bool(false)) }
        expectTrue(!isFirst)
    }

    @Test func theOldestOfTheAppThatFillsTheQueueGo() {
        func letters(_ app: String?, _ count: Int, from time: UInt64) -> [DeadLetterQuota.Letter] {
            (0..<count).map { .init(name: "\(app ?? "-")-\($0)", app: app, diedAt: time + UInt64($0)) }
        }
        let quota = DeadLetterQuota(most: 100)
        expectTrue(quota.surplus(of: letters("a", 100, from: 0)).isEmpty)
        let all = (letters("a", 200, from: 1_000) + letters("b", 20, from: 0) + letters(nil, 5, from: 0)).shuffled()
        let surplus = quota.surplus(of: all)
        expectEqual(Set(surplus.map(\.name)), Set((0..<135).map { "a-\($0)" }))
        let even = quota.surplus(of: letters("a", 80, from: 0) + letters("b", 70, from: 0))
        expectTrue(even.count { $0.app == "a" } == 35 && even.count { $0.app == "b" } == 25)
    }
}
