import TestSupport
import Testing

@testable import AMQP

struct EndpointRotationTests {
    @Test func aLostConnectionBeginsWithTheNextNode() {
        var rotation = EndpointRotation(count: 3, start: 2)
        expectEqual(rotation.order, [2, 0, 1])
        rotation.tried(reaching: 2)
        expectEqual(rotation.order, [0, 1, 2])
        // The second of them was reached.
        rotation.tried(reaching: 1)
        expectEqual(rotation.order, [2, 0, 1])
    }

    @Test func anAttemptThatReachedNobodyIsFollowedByAnother() {
        var rotation = EndpointRotation(count: 2, start: 1)
        rotation.tried(reaching: nil)
        expectEqual(rotation.order, [0, 1])
    }

    @Test func connectionsBeginEverywhere() {
        let firsts = Set((0..<200).compactMap { _ in EndpointRotation(count: 3).order.first })
        expectEqual(firsts, [0, 1, 2])
        expectTrue(EndpointRotation(count: 1).order == [0] && EndpointRotation(count: 0).order == [])
    }

    @Test func severalNodesHaveAShorterHeartbeat() throws {
        try expectEqual(AMQPConfiguration(url: "amqp://a").heartbeat, .seconds(30))
        try expectEqual(AMQPConfiguration(url: "amqp://a,b:5673").heartbeat, .seconds(10))
        try expectEqual(AMQPConfiguration(url: "amqp://a,b?heartbeat=60").heartbeat, .seconds(60))
    }
}
