import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite(.needsBrokerControl) struct RecoveryTests {
        /// Has the broker close the connection of this name.
        private func kill(_ name: String) async throws {
            // Asked in Erlang, because listing and closing are two programs to start, and the list lags behind: one that was
            // closed before may still be in it, and not count.
            let script = """
                Victims = [Pid || [{pid, Pid}, {state, State}, {client_properties, Properties}] <-
                    rabbit_networking:connection_info_all([pid, state, client_properties]), is_list(Properties),
                    State =/= closing, State =/= closed,
                    lists:keyfind(<<"connection_name">>, 1, Properties) =:=
                        {<<"connection_name">>, longstr, <<"\(name)">>}],
                [rabbit_networking:close_connection(Pid, "test") || Pid <- Victims], length(Victims).
                """
            try await eventually { try await TestBroker.control("-q", "eval", script).hasPrefix("1") }
        }

        @Test func consumersResumeAndStaleAnswersAreDropped() async throws {
            let name = TestBroker.uniqueName()
            try await withQueue(name, prefetch: 2, adjust: { $0.connectionName = name }) { connection, channel, queue in
                // The test has a queue of its own, because an exclusive queue would go with the connection.
                let queue = queue + ".kept"
                let exchange = queue + ".exchange"
                try await channel.declareExchange(exchange, type: .topic, durable: false, autoDelete: true)
                try await channel.declareQueue(AMQPQueueDeclaration(name: queue, durable: true))
                try await channel.bindQueue(queue, exchange: exchange, routingKey: "a.*")
                let transient = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true))
                try await channel.bindQueue(transient.name, exchange: exchange, routingKey: "b.*")
                let consumer = try await channel.consume(queue: queue)
                let transients = try await channel.consume(queue: transient.name)
                for number in 0..<4 {
                    try await channel.publish(AMQPMessage("\(number)"), exchange: exchange, routingKey: "a.1")
                }
                let stale = try await consumer.take(1)[0]
                expectEqual(stale.generation, 1)

                try await kill(name)
                try await eventually { connection.state == .connected(generation: 2) }
                // The second delivery of the first connection was buffered and never taken: it must not come twice.
                let again = try await consumer.take(1)[0]
                expectEqual(again.message.text, "0")
                expectTrue(again.redelivered)
                expectEqual(again.generation, 2)
                try await stale.ack()
                try await consumer.ack(upTo: stale)
                try await again.ack()
                var rest: [AMQPDelivery] = []
                for _ in 0..<3 {
                    rest += try await consumer.take(1)
                    try await rest.last?.ack()
                }
                expectEqual(rest.map(\.message.text), ["1", "2", "3"])
                expectEqual(connection.statistics.staleAcknowledgements, 2)
                expectEqual(connection.statistics.reconnects, 1)

                // Declarations are back too, those of transient things among them.
                try await channel.publish(AMQPMessage("t"), exchange: exchange, routingKey: "b.1", mandatory: true)
                try await expectEqual(transients.take(1).first?.message.text, "t")
                try await channel.deleteQueue(queue)
            }
        }

        @Test func publishersSurviveALostConnection() async throws {
            let name = TestBroker.uniqueName()
            try await withConnection({ $0.connectionName = name }) { connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = TestBroker.uniqueName()
                try await channel.declareQueue(AMQPQueueDeclaration(name: queue))
                let done = Task {
                    var confirmed: Set<String> = []
                    var lost = 0
                    for number in 0... {
                        if connection.isConnected(sinceGeneration: 3), number > 200 { break }
                        let text = "\(number)"
                        do throws(AMQPError) {
                            try await channel.publish(AMQPMessage(text), exchange: "", routingKey: queue)
                            confirmed.insert(text)
                        } catch {
                            expectTrue(error.isRetriable, "\(error)")
                            // The test has ended already.
                            guard error.isRetriable else { break }
                            lost += 1
                        }
                    }
                    return (confirmed, lost)
                }
                try await kill(name)
                try await eventually { connection.isConnected(sinceGeneration: 2) }
                try await kill(name)
                let (confirmed, _) = await done.value
                var found: Set<String> = []
                while let delivery = try await channel.get(queue: queue) {
                    found.insert(delivery.message.text)
                    try await delivery.ack()
                }
                // What was confirmed is there; what was not may be.
                expectTrue(confirmed.isSubset(of: found))
                try await channel.deleteQueue(queue)
            }
        }

        @Test func statesAreSeenFromOutside() async throws {
            let name = TestBroker.uniqueName()
            try await withConnection({
                $0.connectionName = name
                $0.reconnect = ReconnectPolicy(base: .milliseconds(400), maximum: .milliseconds(400))
            }) { connection in
                var updates = connection.stateUpdates.makeAsyncIterator()
                await expectEqual(updates.next(), .connected(generation: 1))
                try await kill(name)
                // States coalesce: who looks late may miss that it was reconnecting.
                var seen = await updates.next()
                // While there is no connection, what is asked for waits for it.
                let channel = try await connection.openChannel(confirms: true)
                while case .reconnecting = seen { seen = await updates.next() }
                expectEqual(seen, .connected(generation: 2))
                let gone = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true))
                expectEqual(gone.messageCount, 0)
                await connection.close()
                await expectEqual(updates.next(), .closed)
                await expectTrue(updates.next() == nil)
            }
        }

        @Test func exclusiveQueueThatIsStillLockedIsWaitedFor() async throws {
            let name = TestBroker.uniqueName()
            try await withFaultyProxy { proxy, connection in
                let channel = try await connection.openChannel(confirms: true)
                let declaration = AMQPQueueDeclaration(name: name, durable: false, exclusive: true)
                try await channel.declareQueue(declaration)
                let consumer = try await channel.consume(queue: name)
                try await withConnection { thief in
                    let held = try await thief.openChannel()
                    try await proxy.freeze()
                    proxy.cut()
                    // Until the broker has noticed the loss the queue is its former owner's.
                    try await eventually {
                        do throws(AMQPError) {
                            try await held.declareQueue(declaration)
                            return true
                        } catch {
                            guard error.code == .resourceLocked else { throw error }
                            return false
                        }
                    }
                    proxy.thaw()
                    try await eventually { connection.state == .connected(generation: 2) }
                    try await Task.sleep(for: .milliseconds(500))
                }
                try await channel.publish(
                    AMQPMessage("mine"), exchange: "", routingKey: name, mandatory: true, timeout: .seconds(120))
                try await expectEqual(consumer.take(1).first?.message.text, "mine")
                expectEqual(connection.state, .connected(generation: 2))
            }
        }

        @Test func consumerOfAQueueThatIsGoneEndsWithNotFound() async throws {
            let name = TestBroker.uniqueName()
            try await withFaultyProxy { proxy, connection in
                try await withConnection { other in
                    let setup = try await other.openChannel()
                    try await setup.declareQueue(AMQPQueueDeclaration(name: name))
                    try await setup.declareQueue(AMQPQueueDeclaration(name: name + ".2"))
                    let channel = try await connection.openChannel(confirms: true)
                    let consumer = try await channel.consume(queue: name)
                    let unharmed = try await channel.consume(queue: name + ".2")
                    try await proxy.freeze()
                    proxy.cut()
                    try await eventually { !connection.isConnected(sinceGeneration: 1) }
                    try await setup.deleteQueue(name)
                    proxy.thaw()
                    let error = await failure { () throws(AMQPError) in _ = try await consumer.nextBatch(max: 1) }
                    expectEqual(error?.code, .notFound)
                    try await channel.publish(AMQPMessage("on"), exchange: "", routingKey: name + ".2")
                    try await expectEqual(unharmed.take(1).first?.message.text, "on")
                    try await setup.deleteQueue(name + ".2")
                }
            }
        }

        @Test func waitForAConnectionEndsAtTheDeadline() async throws {
            try await withFaultyProxy({ $0.requestTimeout = .milliseconds(200) }) { proxy, connection in
                // On a busy machine the deadline may be over before there is a connection to lose.
                var opened: AMQPChannel?
                try await eventually {
                    opened = try? await connection.openChannel(confirms: true)
                    return opened != nil
                }
                let channel = try #require(opened)
                try await proxy.freeze()
                proxy.cut()
                try await eventually { !connection.isConnected(sinceGeneration: 1) }
                let publish = await failure { () throws(AMQPError) in
                    try await channel.publish(
                        AMQPMessage("x"), exchange: "", routingKey: "q", timeout: .milliseconds(100))
                }
                expectEqual(publish?.code, .timeout)
                let declare = await failure { () throws(AMQPError) in
                    try await channel.declareQueue(AMQPQueueDeclaration(name: "q"))
                }
                expectEqual(declare?.code, .timeout)
                let open = await failure { () throws(AMQPError) in _ = try await connection.openChannel() }
                expectEqual(open?.code, .timeout)
                let waiting = Task {
                    await failure { () throws(AMQPError) in
                        try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: "q", timeout: nil)
                    }
                }
                await connection.close()
                await expectEqual(waiting.value?.code, .closed)
            }
        }
    }
}
