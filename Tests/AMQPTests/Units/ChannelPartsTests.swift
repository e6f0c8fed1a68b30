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
        #expect(ledger.confirm(3, multiple: false) == [3])
        #expect(ledger.confirm(1, multiple: false) == [1])
        #expect(ledger.count == 2)
        #expect(Array(ledger.open) == [2, 4])
        #expect(ledger.confirm(4, multiple: true) == [2, 4])
        #expect(ledger.count == 0)
        ledger.append(5)
        #expect(ledger.confirm(5, multiple: false) == [5])
    }

    @Test func multipleConfirmOfZeroCoversAll() {
        var ledger = ledger(3)
        #expect(ledger.confirm(0, multiple: true) == [1, 2, 3])
        #expect(ledger.confirm(0, multiple: true) == [])
    }

    @Test func repeatedConfirmIsNothingNew() {
        var ledger = ledger(3)
        #expect(ledger.confirm(2, multiple: false) == [2])
        #expect(ledger.confirm(2, multiple: false) == [])
        #expect(ledger.confirm(2, multiple: true) == [1])
        #expect(ledger.confirm(1, multiple: false) == [])
    }

    @Test func confirmOfWhatWasNeverPublishedIsNoticed() {
        var ledger = ledger(2)
        #expect(ledger.confirm(3, multiple: false) == nil)
        #expect(ledger.confirm(.max, multiple: true) == nil)
        #expect(ledger.confirm(0, multiple: false) == nil)
        #expect(ledger.count == 2)
    }

    @Test func resetBeginsTheCountAnew() {
        var ledger = ledger(3)
        _ = ledger.confirm(2, multiple: false)
        #expect(ledger.reset() == [1, 3])
        ledger.append(10)
        #expect(ledger.confirm(1, multiple: false) == [10])
    }
}

@Suite struct UnackedTagsTests {
    @Test func eachTagIsTakenOnce() {
        var tags = UnackedTags()
        for tag: UInt64 in [2, 3, 5, 8] { tags.append(tag) }
        #expect(tags.remove(3) == true)
        #expect(tags.remove(3) == false)
        #expect(tags.remove(4) == false)
        #expect(tags.remove(9) == false)
        #expect(tags.first == 2)
        #expect(tags.removeAll(upTo: 6) == [2, 5])
        #expect(tags.removeAll(upTo: 6) == [])
        #expect(tags.remove(8) == true)
        #expect(tags.first == nil)
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
        #expect(topology.inOrder.map(\.method) == [Method.exchangeDeclare, Method.queueDeclare, Method.queueBind])
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
        #expect(topology.inOrder.map(\.method) == [Method.exchangeDeclare, Method.queueDeclare])
        topology.note(.bindQueue(binding("r", "e")))
        topology.note(.deleteExchange("e"))
        #expect(topology.inOrder.map(\.method) == [Method.queueDeclare])
    }

    @Test func questionsAreNotReplayed() {
        var topology = Topology()
        topology.note(.declareQueue(AMQPQueueDeclaration(name: "q", passive: true)))
        topology.note(.purgeQueue("q"))
        topology.note(.get(queue: "q"))
        #expect(topology.inOrder.isEmpty)
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
        #expect(!content.isComplete)
        try content.begin(AMQPProperties(), bodyBytes: 5, limit: 100)
        try append([1, 2, 3], to: &content)
        #expect(!content.isComplete)
        try append([4, 5], to: &content)
        #expect(content.isComplete)
        #expect(content.message.body == [1, 2, 3, 4, 5])
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
