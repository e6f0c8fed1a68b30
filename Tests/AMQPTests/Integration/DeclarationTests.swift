import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct DeclarationTests {
        @Test func mismatchedDeclarationFailsAndTheChannelGoesOn() async throws {
            try await withQueue { _, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                let error = await failure { () throws(AMQPError) in
                    try await channel.declareQueue(
                        AMQPQueueDeclaration(
                            name: queue, durable: false, exclusive: true, arguments: ["x-max-length": 5]))
                }
                expectEqual(error?.code, .preconditionFailed)
                expectEqual(error?.replyCode, 406)
                expectEqual(error?.isRetriable, false)
                // The consumer is back without anybody's doing.
                try await channel.publish(AMQPMessage("on"), exchange: "", routingKey: queue)
                try await expectEqual(consumer.take(1).first?.message.text, "on")
            }
        }

        @Test func passiveDeclarationTellsWhetherAQueueExists() async throws {
            try await withQueue { connection, channel, queue in
                try await channel.publish(AMQPMessage("1"), exchange: "", routingKey: queue)
                let info = try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true))
                expectEqual(info, AMQPQueueInfo(name: queue, messageCount: 1, consumerCount: 0))
                for _ in 0..<20 {
                    let error = await failure { () throws(AMQPError) in
                        try await channel.declareQueue(AMQPQueueDeclaration(name: "no.such.queue", passive: true))
                    }
                    expectEqual(error?.code, .notFound)
                }
                expectEqual(connection.state, .connected(generation: 1))
            }
        }

        @Test func anotherConnectionsExclusiveQueueIsLocked() async throws {
            try await withQueue { _, _, queue in
                try await withConnection { other in
                    let channel = try await other.openChannel()
                    let error = await failure { () throws(AMQPError) in
                        try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true))
                    }
                    expectEqual(error?.code, .resourceLocked)
                }
            }
        }

        @Test func emptyNameGivesAQueueOfOnesOwn() async throws {
            try await withConnection { connection in
                let channel = try await connection.openChannel(confirms: true)
                let one = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true))
                let two = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true))
                expectTrue(!one.name.isEmpty)
                expectTrue(one.name != two.name)
            }
        }

        @Test func bindingsRouteAndCanBeUndone() async throws {
            try await withQueue { _, channel, queue in
                let source = TestBroker.uniqueName()
                try await channel.declareExchange(source, type: .topic, durable: false)
                try await channel.bindQueue(queue, exchange: source, routingKey: "a.#")
                try await channel.publish(AMQPMessage("1"), exchange: source, routingKey: "a.b.c", mandatory: true)
                try await expectEqual(channel.get(queue: queue)?.message.text, "1")
                try await channel.unbindQueue(queue, exchange: source, routingKey: "a.#")
                let unbound = await failure { () throws(AMQPError) in
                    try await channel.publish(AMQPMessage("2"), exchange: source, routingKey: "a.b", mandatory: true)
                }
                expectEqual(unbound?.code, .unroutable)
                try await channel.unbindQueue(queue, exchange: source, routingKey: "a.#")
                try await channel.deleteExchange(source)
                try await channel.deleteExchange(source)
                let missing = await failure { () throws(AMQPError) in
                    try await channel.bindQueue(queue, exchange: source, routingKey: "")
                }
                expectEqual(missing?.code, .notFound)
            }
        }

        @Test func namesThatAreTooLongAreTheCallersError() async throws {
            try await withQueue { _, channel, _ in
                let error = await failure { () throws(AMQPError) in
                    try await channel.declareQueue(AMQPQueueDeclaration(name: String(repeating: "q", count: 256)))
                }
                expectEqual(error?.code, .invalidArgument)
                let prefetch = await failure { () throws(AMQPError) in
                    _ = try await channel.connection.openChannel(prefetch: 70_000)
                }
                expectEqual(prefetch?.code, .invalidArgument)
            }
        }

        @Test func channelsRunOutWithAnError() async throws {
            try await withConnection({ $0.channelMax = 3 }) { connection in
                var channels: [AMQPChannel] = []
                for _ in 0..<3 { channels.append(try await connection.openChannel()) }
                let error = await failure { () throws(AMQPError) in _ = try await connection.openChannel() }
                expectEqual(error?.code, .invalidArgument)
                await channels[1].close()
                _ = try await connection.openChannel()
            }
        }
    }
}
