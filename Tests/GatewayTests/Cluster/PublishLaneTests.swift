import AMQP
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite struct PublishLaneTests {
    private func push(_ count: Int, bytes: Int, to lane: PublishLane) -> [GatewayError.Code: Int] {
        let refused = Mutex<[GatewayError.Code: Int]>([:])
        let message = AMQPMessage(body: Array(repeating: 0, count: bytes))
        for _ in 0..<count {
            lane.push(
                .init(
                    message: message, exchange: "x", routingKey: "",
                    completion: { error in if let error { refused.withLock { $0[error.code, default: 0] += 1 } } }))
        }
        return refused.withLock { $0 }
    }

    @Test func aBrokerThatTakesNothingDoesNotFillTheMemory() {
        let lane = PublishLane()
        expectTrue(push(PublishLane.maxMessages, bytes: 1, to: lane).isEmpty)
        expectEqual(push(3, bytes: 1, to: lane), [.overloaded: 3])
        let other = PublishLane()
        expectTrue(push(16, bytes: 16 << 20, to: other).isEmpty)
        expectEqual(push(1, bytes: 1, to: other), [.overloaded: 1])
    }

    @Test func aMessageAfterTheEndIsRefusedToo() {
        let lane = PublishLane()
        lane.close()
        expectEqual(push(2, bytes: 1, to: lane), [.shuttingDown: 2])
    }
}
