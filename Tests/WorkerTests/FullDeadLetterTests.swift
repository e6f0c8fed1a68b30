import AMQP
import Messages
import Operations
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What the queue of the dead letters does not take is not lost.
@Suite(.needsBroker, .hangGuard) struct FullDeadLetterTests {
    @Test func messagesAFullDeadLetterQueueRefusesWaitForRoom() async throws {
        try await Cluster.with(hearsDeadLetters: false) { cluster in
            let dead = cluster.topology.dead
            let readiness = Readiness()
            let worker = try cluster.startWorker("a", readiness: readiness)
            let (file, _) = try await cluster.join(session: 1)
            // A full one.
            try await cluster.channel.deleteQueue(dead)
            try await cluster.channel.declareQueue(
                AMQPQueueDeclaration(
                    name: dead, durable: true,
                    arguments: ["x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "reject-publish"]),
                record: false)
            try await cluster.channel.bindQueue(dead, exchange: dead, routingKey: "")
            // The queue takes a few more messages than it is to hold.
            while await Self.publish("filler", to: dead, cluster) != .nacked {
                try await Task.sleep(for: .milliseconds(5))
            }

            var poison = try AMQPMessage(cluster.upload(file, []))
            poison.body = [2, 9, 9]
            try await cluster.send(poison)
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            let refused = "dead does not take a message"
            while !readiness.components.contains(where: { !$0.ready && $0.reason.contains(refused) }) {
                try await Task.sleep(for: .milliseconds(50))
            }

            // The operator makes room: what waited comes.
            let reader = try await cluster.connection.openChannel()
            var letter: AMQPMessage?
            while letter == nil {
                guard let delivery = try await reader.get(queue: dead) else {
                    try await Task.sleep(for: .milliseconds(50))
                    continue
                }
                if delivery.message.body == poison.body { letter = delivery.message }
                try await delivery.ack()
            }
            expectTrue(letter?.properties.headers[DeadLetter.reasonHeader] != nil)
            try await expectEqual(cluster.next(IntegratedNotice.self).latest.version, 1)
            while !readiness.components.allSatisfy({ !$0.reason.contains(refused) }) {
                try await Task.sleep(for: .milliseconds(50))
            }
            try await worker.stop()
        }
    }

    private static func publish(_ text: String, to queue: String, _ cluster: Cluster) async -> AMQPError.Code? {
        do throws(AMQPError) {
            try await cluster.channel.publish(
                AMQPMessage(body: text), exchange: "", routingKey: queue, mandatory: true)
            return nil
        } catch {
            return error.code
        }
    }
}
