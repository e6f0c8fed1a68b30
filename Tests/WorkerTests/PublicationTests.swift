import Testing

@testable import AMQP
@testable import Worker

struct PublicationTests {
    @Test(arguments: [AMQPError.Code.connectionLost, .channelClosed, .timeout, .blocked])
    func aNoticeWaitsForTheBrokerAndAnAnswerDoesNot(_ code: AMQPError.Code) {
        let error = AMQPError(code, "as the test wants it")
        let message = AMQPMessage(body: [])
        // The last notice of a realm is missed by nobody until the realm's next change.
        #expect(!Publication(.realms(key: "r"), message).isExpendable(after: error))
        #expect(!Publication(.outcomes, message).isExpendable(after: error))
        // Its gateway asks again.
        #expect(Publication(.queue("g"), message).isExpendable(after: error))
    }

    @Test func aNoticeThatTheBrokerTurnsDownStopsNoSlice() {
        let error = AMQPError(.notFound, "as the test wants it")
        #expect(Publication(.realms(key: "r"), AMQPMessage(body: [])).isExpendable(after: error))
        #expect(!Publication(.dead, AMQPMessage(body: [])).isExpendable(after: error))
    }
}
