import AMQP
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite(.needsBroker, .timeLimit(.minutes(5))) struct DeadLetterQueueTests {
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
                _ = try await broker.deadLetters.visit(limit: 10) { entry, _ in
                    if entry.position == 3 { throw Died() }
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
            _ = try await broker.deadLetters.visit(limit: 10) { entry, _ in entry.id == "b" ? .requeued : .kept }
            try await eventually { try await broker.buried().sorted() == ["a", "c"] }
            let back = try await broker.take(from: broker.topology.slice(SliceNumber(1)))
            #expect(back.properties.messageID == "b" && back.properties.type == "termination")
            #expect(back.properties.headers.isEmpty, "\(back.properties.headers)")
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
            #expect(try Envelope(of: back).id == "dog-7")
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

    @Test func aLetterFromNowhereStaysWhereItIs() async throws {
        try await BrokerHarness.with { broker in
            try await broker.bury("a", from: "somebody.else")
            await #expect(throws: InspectionError.self) {
                _ = try await broker.deadLetters.visit(limit: 10) { _, _ in .requeued }
            }
            try await eventually { try await broker.buried() == ["a"] }
        }
    }

    @Test func aDroppedLetterIsGoneAndTheOthersStay() async throws {
        try await BrokerHarness.with { broker in
            for id in ["a", "b", "c"] { try await broker.bury(id) }
            let (seen, of) = try await broker.deadLetters.visit(limit: 2) { entry, _ in
                entry.position == 1 ? .dropped : .kept
            }
            #expect(seen == 2 && of == 3)
            // What was kept goes back to the queue when it may, in whatever order.
            try await eventually { try await broker.buried().sorted() == ["b", "c"] }
        }
    }

    @Test func whatTheBrokerBuriesByItselfSaysWhereItDied() async throws {
        try await BrokerHarness.with { broker in
            try await broker.channel.publish(
                AMQPMessage(body: "x"), exchange: broker.topology.slices, routingKey: "1", mandatory: true)
            _ = try await broker.take(from: broker.topology.slice(SliceNumber(1)), rejecting: true)
            try await eventually { try await broker.count(broker.topology.dead) == 1 }
            var found: DeadLetterEntry?
            _ = try await broker.deadLetters.visit(limit: 10) { entry, _ in
                found = entry
                return .requeued
            }
            #expect(found?.queue == broker.topology.slice(SliceNumber(1)) && found?.reason == "rejected")
            try await eventually { try await broker.count(broker.topology.slice(SliceNumber(1))) == 1 }
        }
    }

    @Test func filtersMeanWhatTheySay() throws {
        let entry = DeadLetterEntry(
            position: 3, id: "m-1", type: "changeset", app: "tasks", partition: nil, clientFile: nil, queue: nil,
            reason: "App nobody is unknown", publishedAt: nil, bytes: 1, text: "")
        #expect(DeadLetterFilter().accepts(entry))
        #expect(DeadLetterFilter(positions: [3]).accepts(entry) && DeadLetterFilter(ids: ["m-1"]).accepts(entry))
        #expect(!DeadLetterFilter(positions: [2]).accepts(entry) && !DeadLetterFilter(ids: ["m"]).accepts(entry))
        #expect(DeadLetterFilter(positions: [2], ids: ["m-1"]).accepts(entry))
        #expect(DeadLetterFilter(app: "tasks", reason: "NOBODY", type: "changeset").accepts(entry))
        #expect(!DeadLetterFilter(app: "other").accepts(entry) && !DeadLetterFilter(reason: "else").accepts(entry))
    }
}
