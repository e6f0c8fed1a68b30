import TestSupport
import Testing

@testable import AMQP

@Suite struct ConfirmLedgerTests {
    private func ledger(_ count: Int) -> ConfirmLedger<Int> {
        var ledger = ConfirmLedger<Int>()
        for number in 1...count { ledger.append(number) }
        return ledger
    }

    @Test func singleConfirmsMayComeInAnyOrder() {
        var ledger = ledger(4)
        expectEqual(ledger.confirm(3, multiple: false), [3])
        expectEqual(ledger.confirm(1, multiple: false), [1])
        expectEqual(ledger.count, 2)
        expectEqual(Array(ledger.open), [2, 4])
        expectEqual(ledger.confirm(4, multiple: true), [2, 4])
        expectEqual(ledger.count, 0)
        ledger.append(5)
        expectEqual(ledger.confirm(5, multiple: false), [5])
    }

    @Test func multipleConfirmOfZeroCoversAll() {
        var ledger = ledger(3)
        expectEqual(ledger.confirm(0, multiple: true), [1, 2, 3])
        expectEqual(ledger.confirm(0, multiple: true), [])
    }

    @Test func repeatedConfirmIsNothingNew() {
        var ledger = ledger(3)
        expectEqual(ledger.confirm(2, multiple: false), [2])
        expectEqual(ledger.confirm(2, multiple: false), [])
        expectEqual(ledger.confirm(2, multiple: true), [1])
        expectEqual(ledger.confirm(1, multiple: false), [])
    }

    @Test func confirmOfWhatWasNeverPublishedIsNoticed() {
        var ledger = ledger(2)
        expectTrue(ledger.confirm(3, multiple: false) == nil)
        expectTrue(ledger.confirm(.max, multiple: true) == nil)
        expectTrue(ledger.confirm(0, multiple: false) == nil)
        expectEqual(ledger.count, 2)
    }

    @Test func resetBeginsTheCountAnew() {
        var ledger = ledger(3)
        _ = ledger.confirm(2, multiple: false)
        expectEqual(ledger.reset(), [1, 3])
        ledger.append(10)
        expectEqual(ledger.confirm(1, multiple: false), [10])
    }
}

@Suite struct UnackedTagsTests {
    @Test func eachTagIsTakenOnce() {
        var tags = UnackedTags()
        for tag: UInt64 in [2, 3, 5, 8] { tags.append(tag) }
        expectEqual(tags.remove(3), true)
        expectEqual(tags.remove(3), false)
        expectEqual(tags.remove(4), false)
        expectEqual(tags.remove(9), false)
        expectEqual(tags.first, 2)
        expectEqual(tags.removeAll(upTo: 6), [2, 5])
        expectEqual(tags.removeAll(upTo: 6), [])
        expectEqual(tags.remove(8), true)
        expectTrue(tags.first == nil)
    }
}

@Suite struct TopologyTests {
    private func queue(_ name: String, durable: Bool = true) -> ChannelOperation {
        .declareQueue(AMQPQueueDeclaration(name: name, durable: durable))
    }

    private func binding(_ queue: String, _ exchange: String) -> Binding {
        Binding(queue: queue, exchange: exchange, routingKey: "k", arguments: [:])
    }

    private func exchange(_ name: String) -> ChannelOperation {
        .declareExchange(
            ExchangeDeclaration(
                name: name, type: .topic, durable: true, autoDelete: false, passive: false, arguments: [:]))
    }

    @Test func declarationsAreReplayedInOrderAndOnce() {
        var topology = Topology()
        for operation in [exchange("e"), queue("q"), .bindQueue(binding("q", "e")), queue("q"), exchange("e")] {
            topology.note(operation)
        }
        expectEqual(topology.inOrder.map(\.method), [Method.exchangeDeclare, Method.queueDeclare, Method.queueBind])
    }

    @Test func undoingForgetsWithTheBindings() {
        var topology = Topology()
        for operation in [
            exchange("e"), queue("q"), queue("r"), .bindQueue(binding("q", "e")), .bindQueue(binding("r", "e")),
        ] {
            topology.note(operation)
        }
        topology.note(.unbindQueue(binding("r", "e")))
        topology.note(.deleteQueue("q"))
        expectEqual(topology.inOrder.map(\.method), [Method.exchangeDeclare, Method.queueDeclare])
        topology.note(.bindQueue(binding("r", "e")))
        topology.note(.deleteExchange("e"))
        expectEqual(topology.inOrder.map(\.method), [Method.queueDeclare])
    }

    @Test func questionsAreNotReplayed() {
        var topology = Topology()
        topology.note(.declareQueue(AMQPQueueDeclaration(name: "q", passive: true)))
        topology.note(.purgeQueue("q"))
        topology.note(.get(queue: "q"))
        expectTrue(topology.inOrder.isEmpty)
    }
}

@Suite struct IncomingContentTests {
    private func append(_ bytes: [UInt8], to content: inout IncomingContent) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: bytes)
        try content.append(UnsafeRawBufferPointer(buffer))
    }

    @Test func bodyIsWholeWhenItsSizeIsReached() throws {
        var content = IncomingContent(.discarded, exchange: "", routingKey: "")
        expectTrue(!content.isComplete)
        try content.begin(AMQPProperties(), bodyBytes: 5, limit: 100)
        try append([1, 2, 3], to: &content)
        expectTrue(!content.isComplete)
        try append([4, 5], to: &content)
        expectTrue(content.isComplete)
        expectEqual(content.message.body, [1, 2, 3, 4, 5])
    }

    @Test func sizesThatLieAreErrors() throws {
        var content = IncomingContent(.discarded, exchange: "", routingKey: "")
        #expect(throws: AMQPError.self) { try content.begin(AMQPProperties(), bodyBytes: .max, limit: 100) }
        #expect(throws: AMQPError.self) { try content.begin(AMQPProperties(), bodyBytes: 101, limit: 100) }
        #expect(throws: AMQPError.self) {
            try append([1], to: &content)
        }
        try content.begin(AMQPProperties(), bodyBytes: 1, limit: 100)
        #expect(throws: AMQPError.self) { try content.begin(AMQPProperties(), bodyBytes: 1, limit: 100) }
        #expect(throws: AMQPError.self) {
            try append([1, 2], to: &content)
        }
    }
}
