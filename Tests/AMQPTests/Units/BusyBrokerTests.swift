import TestSupport
import Testing

@testable import AMQP

/// What a broker says that has too much to do.
@Suite struct BusyBrokerTests {
    @Test func aQueueThatWasNotMadeInTimeMayBeAskedForAgain() {
        let busy = AMQPError.fromBroker(
            replyCode: 541, text: "INTERNAL_ERROR - Cannot declare quorum queue", otherwise: .protocolError)
        expectTrue(busy.isRetriable)
        let wrong = AMQPError.fromBroker(replyCode: 503, text: "COMMAND_INVALID", otherwise: .protocolError)
        expectTrue(!wrong.isRetriable)
    }
}
