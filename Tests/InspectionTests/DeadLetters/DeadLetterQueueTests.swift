import AMQP
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite(.needsBroker, .hangGuard) struct DeadLetterQueueTests {
    @Test func lookingTakesNothingOutAndKeepsTheOrder() async throws {
        try await BrokerHarness.with { broker in
            for id in ["a", "b", "c", "d"] { try await broker.bury(id) }
            // More often than some brokers deliver a message before they drop it.
            for _ in 0..<25 {
                try await eventually { Set(try await broker.buried()) == ["a", "b", "c", "d"] }
            }
            try await eventually { try await broker.buried() == ["a", "b", "c", "d"] }
        }
    }

    @Test func aToolThatDiesLosesNothing() async throws {
        try await BrokerHarness.with { broker in
            for id in ["a", "b", "c"] { try await broker.bury(id) }
            struct Died: Error {}
            await #expect(throws: Died.self) {
                var seen = 0
                _ = try await broker.deadLetters.visit(limit: 10) { _, _ in
                    seen += 1
                    if seen == 3 { throw Died() }
                    return .kept
                }
            }
            // The broker puts back what a channel held when it gets to it, and in an order of its own.
            try await eventually { try await broker.buried().sorted() == ["a", "b", "c"] }
        }
    }

    @Test func aRequeuedLetterReachesItsSliceAsItWas() async throws {
        try await BrokerHarness.with { broker in
            for id in ["a", "b", "c"] { try await broker.bury(id) }
            _ = try await broker.deadLetters.visit(limit: 10) { _, message in
                message.properties.messageID == "b" ? .requeued : .kept
            }
            try await eventually { try await broker.buried().sorted() == ["a", "c"] }
            let back = try await broker.take(from: broker.topology.slice(SliceNumber(1)))
            expectTrue(back.properties.messageID == "b" && back.properties.type == "termination")
            expectTrue(back.properties.headers.isEmpty, "\(back.properties.headers)")
        }
    }

    @Test func anIdThatOnlyTheBodyHasIsKept() async throws {
        try await BrokerHarness.with { broker in
            var message = AMQPMessage(body: #"{"type":"termination","id":"dog-7","app":"tasks"}"#)
            message.properties.headers[DeadLetter.queueHeader] = .string(broker.topology.slice(SliceNumber(0)))
            try await broker.channel.publish(message, exchange: broker.topology.dead, routingKey: "")
            try await eventually { try await broker.count(broker.topology.dead) == 1 }
            _ = try await broker.deadLetters.visit(limit: 1, { _, _ in .requeued })
            let back = try await broker.take(from: broker.topology.slice(SliceNumber(0)))
            try expectEqual(Envelope(of: back).id, "dog-7")
        }
    }

    @Test func aReportGoesBackToTheOutcomes() async throws {
        try await BrokerHarness.with { broker in
            try await broker.bury("a", from: broker.topology.outcomes)
            _ = try await broker.deadLetters.visit(limit: 10) { _, _ in .requeued }
            try await eventually { try await broker.count(broker.topology.outcomes) == 1 }
            try await eventually { try await broker.buried().isEmpty }
        }
    }

    /// What is published by hand where no slice gets it is not lost, and reaches a slice when it is put back.
    @Test func anEventWhoseRoutingKeyLeadsNowhereIsADeadLetter() async throws {
        try await BrokerHarness.with { broker in
            let message = AMQPMessage(body: #"{"type":"reset","id":"r-1"}"#)
            try await broker.channel.publish(message, exchange: broker.topology.events, routingKey: "1")
            try await broker.channel.publish(message, exchange: broker.topology.events, routingKey: "99")
            try await eventually { try await broker.count(broker.topology.slice(SliceNumber(1))) == 1 }
            try await eventually { try await broker.count(broker.topology.dead) == 1 }
            // More often than a broker delivers a message before it drops it.
            for _ in 0..<20 {
                var reasons: [String] = []
                try await eventually {
                    reasons = []
                    _ = try await broker.deadLetters.visit(limit: 10) { letter, _ in
                        reasons.append(letter.reason)
                        return .kept
                    }
                    return !reasons.isEmpty
                }
                expectEqual(reasons, [#"published with the routing key "99", which is no slice's number"#])
            }
            try await eventually {
                try await broker.deadLetters.visit(limit: 10, { _, _ in .requeued }).seen == 1
            }
            let back = try await broker.take(from: broker.topology.slice(SliceNumber(0)))
            expectTrue(back.properties.headers.isEmpty && back.body == message.body, "\(back.properties.headers)")
            // A process that publishes to a slice which has no queue is told so.
            let error = await #expect(throws: AMQPError.self) {
                try await broker.channel.publish(
                    message, exchange: broker.topology.slices, routingKey: "99", mandatory: true)
            }
            expectEqual(error?.code, .unroutable)
        }
    }

    @Test func aLetterFromNowhereStaysWhereItIs() async throws {
        try await BrokerHarness.with { broker in
            try await broker.bury("a", from: "somebody.else")
            await #expect(throws: DeadLetterError.self) {
                _ = try await broker.deadLetters.visit(limit: 10) { _, _ in .requeued }
            }
            try await eventually { try await broker.buried() == ["a"] }
        }
    }

    @Test func aDroppedLetterIsGoneAndTheOthersStay() async throws {
        try await BrokerHarness.with { broker in
            for id in ["a", "b", "c"] { try await broker.bury(id) }
            let (seen, of) = try await broker.deadLetters.visit(limit: 2) { _, message in
                message.properties.messageID == "a" ? .dropped : .kept
            }
            expectTrue(seen == 2 && of == 3)
            // What was kept goes back to the queue when it may, in whatever order.
            try await eventually { try await broker.buried().sorted() == ["b", "c"] }
        }
    }

    @Test func lettersBuriedByTheBrokerTellWhereTheyDied() async throws {
        try await BrokerHarness.with { broker in
            try await broker.channel.publish(
                AMQPMessage(body: "x"), exchange: broker.topology.slices, routingKey: "1", mandatory: true)
            _ = try await broker.take(from: broker.topology.slice(SliceNumber(1)), rejecting: true)
            try await eventually { try await broker.count(broker.topology.dead) == 1 }
            var found: DeadLetter?
            _ = try await broker.deadLetters.visit(limit: 10) { letter, _ in
                found = letter
                return .requeued
            }
            expectTrue(found?.queue == broker.topology.slice(SliceNumber(1)) && found?.reason == "rejected")
            expectTrue(found?.diedAt != nil)
            try await eventually { try await broker.count(broker.topology.slice(SliceNumber(1))) == 1 }
        }
    }

    @Test func lettersKeepTheirNamesWhateverIsDoneToOthers() async throws {
        try await BrokerHarness.with { broker in
            // From so many on the broker gives them back in another order.
            let ids = (0..<60).map { "m-\($0)" }
            for id in ids { try await broker.bury(id) }
            func names() async throws -> [String: String] {
                var names: [String: String] = [:]
                _ = try await broker.deadLetters.visit(limit: 1000) { letter, message in
                    names[message.properties.messageID ?? "-"] = letter.name
                    return .kept
                }
                return names
            }
            try await eventually { try await names().count == ids.count }
            let before = try await names()
            expectEqual(Set(before.values).count, ids.count)
            let third = try #require(before["m-3"])
            _ = try await broker.deadLetters.visit(limit: 1000) { letter, _ in letter.name == third ? .dropped : .kept }
            try await eventually { try await names() == before.filter { $0.key != "m-3" } }
        }
    }

    @Test func anExcerptIsNotPublishedAgain() async throws {
        try await BrokerHarness.with { broker in
            let draft = DeadLetterDraft(
                AMQPMessage(body: Array(repeating: 7, count: 100_000)), reason: "r",
                queue: broker.topology.slice(SliceNumber(1)), app: "tasks",
                writer: (RealmName(app: "tasks", partition: "a"), 7), diedAt: 1)
            try await broker.channel.publish(
                draft.letter, exchange: broker.topology.dead, routingKey: "", mandatory: true)
            await #expect(throws: DeadLetterError.self) {
                _ = try await broker.deadLetters.visit(limit: 10) { _, _ in .requeued }
            }
            try await eventually { try await broker.buried().count == 1 }
        }
    }

    @Test func filtersMeanWhatTheySay() throws {
        var message = AMQPMessage(body: "{}")
        message.properties.type = "changeset"
        message.properties.messageID = "m-1"
        let letter = DeadLetterDraft(
            message, reason: "App nobody is unknown", queue: "sluice.slice.1", app: "tasks", diedAt: 1
        ).letter
        let entry = DeadLetterEntry(DeadLetter(letter), letter, slices: try #require(SliceCount(2)))
        expectTrue(DeadLetterFilter().accepts(entry))
        expectTrue(DeadLetterFilter(letters: [entry.name]).accepts(entry))
        expectTrue(DeadLetterFilter(letters: ["m-1"]).accepts(entry))
        expectTrue(!DeadLetterFilter(letters: ["m"]).accepts(entry))
        expectTrue(DeadLetterFilter(letters: ["other", "m-1"]).accepts(entry))
        expectTrue(DeadLetterFilter(app: "tasks", reason: "NOBODY", type: "changeset").accepts(entry))
        expectTrue(!DeadLetterFilter(app: "other").accepts(entry) && !DeadLetterFilter(reason: "else").accepts(entry))
    }
}
