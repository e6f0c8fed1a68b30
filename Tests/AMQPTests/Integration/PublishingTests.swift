import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct PublishingTests {
        @Test func confirmedMessageIsInTheQueue() async throws {
            try await withQueue { _, channel, queue in
                try await channel.publish(AMQPMessage("one"), exchange: "", routingKey: queue)
                let delivery = try #require(await channel.get(queue: queue))
                expectEqual(delivery.message.text, "one")
                expectTrue(delivery.exchange.isEmpty)
                expectEqual(delivery.routingKey, queue)
                expectTrue(!delivery.redelivered)
                try await delivery.ack()
                try await expectTrue(channel.get(queue: queue) == nil)
            }
        }

        @Test func allPropertiesArriveAsSent() async throws {
            try await withQueue { _, channel, queue in
                let headers: AMQPTable = [
                    "bool": true, "int": -5, "big": .int(.max), "double": 1.5, "text": "grüße",
                    "bytes": .bytes([0, 255]),
                    "time": .timestamp(1_700_000_000), "list": [1, "two", [false]], "table": ["a": ["b": nil]],
                    "nil": nil,
                ]
                let sent = AMQPProperties(
                    type: "changeset", messageID: "m-1", correlationID: "c-1", replyTo: "a queue of some length",
                    timestamp: 1_700_000_001, contentType: "application/json", contentEncoding: "identity",
                    headers: headers, persistent: false, priority: 4, expiration: "60000", appID: "tests")
                try await channel.publish(
                    AMQPMessage(body: [1, 2, 3], properties: sent), exchange: "", routingKey: queue)
                let delivery = try #require(await channel.get(queue: queue))
                expectEqual(delivery.message.properties, sent)
                expectEqual(delivery.message.body, [1, 2, 3])
            }
        }

        @Test func emptyBodyArrives() async throws {
            try await withQueue { _, channel, queue in
                try await channel.publish(AMQPMessage(""), exchange: "", routingKey: queue)
                try await expectEqual(channel.get(queue: queue)?.message.body, [])
            }
        }

        @Test(arguments: [131_063, 131_064, 131_065, 262_128, 3_000_000])
        func bodyOverTheFrameLimitArrivesWhole(size: Int) async throws {
            try await withQueue { _, channel, queue in
                let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                try await channel.publish(AMQPMessage(body: body), exchange: "", routingKey: queue)
                let consumer = try await channel.consume(queue: queue)
                let delivery = try #require(try await consumer.take(1).first)
                expectEqual(delivery.message.body, body)
            }
        }

        @Test(arguments: [4096, 10_000])
        func smallerFrameLimitHoldsForEveryBody(limit: Int) async throws {
            try await withQueue(adjust: { $0.maxFrameBytes = limit }) { _, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                for size in [limit - 9, limit - 8, limit - 7, 2 * limit, 1_000_000] {
                    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                    try await channel.publish(AMQPMessage(body: body), exchange: "", routingKey: queue)
                    try await expectEqual(consumer.take(1)[0].message.body, body)
                }
                // Headers cannot be split.
                let headers: AMQPTable = ["h": .bytes(Array(repeating: 7, count: limit))]
                let error = await failure { () throws(AMQPError) in
                    try await channel.publish(
                        AMQPMessage(body: [], properties: AMQPProperties(headers: headers)), exchange: "",
                        routingKey: queue)
                }
                expectEqual(error?.code, .invalidArgument)
                try await channel.publish(AMQPMessage("on"), exchange: "", routingKey: queue)
                try await expectEqual(consumer.take(1)[0].message.text, "on")
            }
        }

        @Test func unroutableMandatoryMessageFails() async throws {
            try await withQueue { _, channel, _ in
                let error = await failure { () throws(AMQPError) in
                    try await channel.publish(
                        AMQPMessage("lost"), exchange: "amq.direct", routingKey: "nowhere", mandatory: true)
                }
                expectEqual(error?.code, .unroutable)
                expectEqual(error?.replyCode, 312)
            }
        }

        @Test func unroutableMessageThatIsNotMandatoryIsConfirmed() async throws {
            try await withQueue { _, channel, _ in
                try await channel.publish(AMQPMessage("dropped"), exchange: "amq.direct", routingKey: "nowhere")
            }
        }

        @Test func returnsAreMatchedAmongConcurrentPublishes() async throws {
            try await withQueue { _, channel, queue in
                let failed = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
                    for number in 0..<300 {
                        group.addTask {
                            // Some without an id of their own, and ids that repeat, as a retry's do.
                            let id = number.isMultiple(of: 3) ? nil : "id-\(number / 6)"
                            let key = number.isMultiple(of: 2) ? queue : "nowhere"
                            do {
                                try await channel.publish(
                                    AMQPMessage("\(number)", id: id), exchange: "", routingKey: key, mandatory: true)
                                return (number, false)
                            } catch let error as AMQPError {
                                return (number, error.code == .unroutable)
                            }
                        }
                    }
                    return try await group.reduce(into: Set<Int>()) { if $1.1 { $0.insert($1.0) } }
                }
                expectEqual(failed.count, 150)
                try await expectEqual(channel.purgeQueue(queue), 150)
            }
        }

        @Test func concurrentPublishersAllSucceed() async throws {
            try await withQueue { connection, channel, queue in
                let other = try await connection.openChannel(confirms: true)
                try await withThrowingTaskGroup { group in
                    for number in 0..<2_000 {
                        group.addTask {
                            let channel = number.isMultiple(of: 2) ? channel : other
                            try await channel.publish(AMQPMessage("\(number)"), exchange: "", routingKey: queue)
                        }
                    }
                    try await group.waitForAll()
                }
                let consumer = try await channel.consume(queue: queue)
                let texts = Set(try await drain(consumer, 2_000))
                expectEqual(texts, Set((0..<2_000).map(String.init)))
                expectEqual(connection.statistics.confirmed, 2_000)
            }
        }

        @Test func batchKeepsOrderAndReportsEachMessage() async throws {
            try await withQueue { _, channel, queue in
                var batch = (0..<1_500).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
                batch[700].routingKey = "nowhere"
                batch[701].routingKey = String(repeating: "k", count: 256)
                let errors = await channel.publish(batch: batch, mandatory: true)
                expectEqual(errors.count, 1_500)
                expectEqual(errors.indices.filter { errors[$0] != nil }, [700, 701])
                expectEqual(errors[700]?.code, .unroutable)
                expectEqual(errors[701]?.code, .invalidArgument)
                let consumer = try await channel.consume(queue: queue)
                let expected = (0..<1_500).filter { $0 != 700 && $0 != 701 }.map(String.init)
                try await expectEqual(drain(consumer, 1_498), expected)
            }
        }

        @Test func moreThanTheLimitOnConfirmsGetThrough() async throws {
            try await withQueue(adjust: { $0.maxOutstandingConfirms = 3 }) { _, channel, queue in
                let batch = (0..<100).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
                await expectTrue(channel.publish(batch: batch).allSatisfy { $0 == nil })
                let purged = try await channel.purgeQueue(queue)
                expectEqual(purged, 100)
            }
        }

        @Test func publishToAMissingExchangeFailsAndTheChannelGoesOn() async throws {
            try await withQueue { _, channel, queue in
                let error = await failure { () throws(AMQPError) in
                    try await channel.publish(AMQPMessage("x"), exchange: "no.such.exchange", routingKey: "k")
                }
                expectEqual(error?.code, .notFound)
                expectEqual(error?.replyCode, 404)
                try await channel.publish(AMQPMessage("y"), exchange: "", routingKey: queue)
                try await expectEqual(channel.get(queue: queue)?.message.text, "y")
            }
        }

        @Test func fullQueueThatRejectsPublishesRefuses() async throws {
            let limits: AMQPTable = ["x-max-length": 1, "x-overflow": "reject-publish"]
            try await withQueue(arguments: limits) { _, channel, queue in
                try await channel.publish(AMQPMessage("1"), exchange: "", routingKey: queue)
                let error = await failure { () throws(AMQPError) in
                    // The limit is soft by a message or two.
                    for _ in 0..<10 { try await channel.publish(AMQPMessage("2"), exchange: "", routingKey: queue) }
                }
                expectEqual(error?.code, .nacked)
                expectEqual(error?.isRetriable, true)
            }
        }

        @Test func aChannelThatIsRefusedForLongIsOpenedAgainAndGoesOn() async throws {
            let seen = LogCapture()
            let connection = AMQPConnection(
                configuration: try AMQPConfiguration(url: TestBroker.requireURL()), logger: seen.logger)
            try await connection.start()
            let channel = try await connection.openChannel(confirms: true)
            let queue = try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: "", durable: false, exclusive: true,
                    arguments: ["x-max-length": 1, "x-overflow": "reject-publish"])
            ).name
            var count = 0
            try await eventually {
                // The limit is soft by a message or two.
                do throws(AMQPError) {
                    try await channel.publish(AMQPMessage("1"), exchange: "", routingKey: queue)
                } catch {
                    if error.code == .nacked { count += 1 }
                }
                return seen.text.contains("the channel is opened again")
            }
            expectTrue(count > 1)
            try await channel.purgeQueue(queue)
            try await channel.publish(AMQPMessage("2"), exchange: "", routingKey: queue)
            try await expectEqual(channel.get(queue: queue)?.message.text, "2")
            await connection.close()
        }

        @Test func mandatoryMessageNeedsConfirms() async throws {
            try await withConnection { connection in
                let channel = try await connection.openChannel()
                let error = await failure { () throws(AMQPError) in
                    try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: "q", mandatory: true)
                }
                expectEqual(error?.code, .invalidArgument)
            }
        }

        @Test func propertiesThatAreTooLongAreTheCallersError() async throws {
            try await withQueue { _, channel, queue in
                let long = AMQPMessage(body: [], properties: AMQPProperties(type: String(repeating: "t", count: 256)))
                let big = AMQPMessage(
                    body: [], properties: AMQPProperties(headers: ["h": .bytes(Array(repeating: 0, count: 200_000))]))
                for message in [long, big] {
                    let error = await failure { () throws(AMQPError) in
                        try await channel.publish(message, exchange: "", routingKey: queue)
                    }
                    expectEqual(error?.code, .invalidArgument)
                }
                // Headers beyond the first guess of their size, within the frame.
                let headers: AMQPTable = ["h": .bytes(Array(repeating: 7, count: 100_000))]
                try await channel.publish(
                    AMQPMessage(body: [1], properties: AMQPProperties(headers: headers)), exchange: "",
                    routingKey: queue)
                try await expectEqual(channel.get(queue: queue)?.message.properties.headers, headers)
            }
        }

        private func drain(_ consumer: AMQPConsumer, _ count: Int) async throws -> [String] {
            var texts: [String] = []
            while texts.count < count, let batch = try await consumer.nextBatch(max: 500), let last = batch.last {
                texts += batch.map(\.message.text)
                try await consumer.ack(upTo: last)
            }
            return texts
        }
    }
}
