import TestSupport
import Testing

@testable import AMQP
@testable import Worker

struct PublicationTests {
    @Test(arguments: [AMQPError.Code.connectionLost, .channelClosed, .timeout, .blocked])
    func aNoticeWaitsForTheBrokerAndAnAnswerDoesNot(_ code: AMQPError.Code) {
        let error = AMQPError(code, "as the test wants it")
        let message = AMQPMessage(body: [])
        // The last notice of a realm is missed by nobody until the realm's next change.
        expectTrue(!Publication(.realms(key: "r"), message).isExpendable(after: error, attempt: 1))
        expectTrue(!Publication(.outcomes, message).isExpendable(after: error, attempt: 1))
        expectTrue(!Publication(.changes(key: "a.B.update"), message).isExpendable(after: error, attempt: 1))
        // The gateway that waits for the answer asks again.
        expectTrue(Publication(.queue("g"), message).isExpendable(after: error, attempt: 1))
    }

    @Test func aNoticeThatTheBrokerTurnsDownStopsNoSlice() {
        let error = AMQPError(.notFound, "as the test wants it")
        let notice = Publication(.realms(key: "r"), AMQPMessage(body: []))
        expectTrue(notice.isExpendable(after: error, attempt: 1))
        // All slices share a channel: the broker may have closed it for another's message.
        expectTrue(!notice.isExpendable(after: error, attempt: 0))
        expectTrue(!Publication(.dead, AMQPMessage(body: [])).isExpendable(after: error, attempt: 1))
    }
}
