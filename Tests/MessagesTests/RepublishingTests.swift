import AMQP
import Messages
import Testing

@Suite struct RepublishingTests {
    @Test func whatIsPublishedAgainIsItsPublishersAndStays() {
        var message = AMQPMessage(body: #"{"type": "reset", "id": "reset-7"}"#)
        message.properties.userID = "shell"
        message.properties.expiration = "1000"
        message.properties.persistent = false
        message.properties.headers["x"] = .int(1)
        let again = message.forRepublishing()
        #expect(again.properties.userID == nil)
        #expect(again.properties.expiration == nil)
        #expect(again.properties.persistent)
        #expect(again.properties.messageID == "reset-7")
        #expect(again.properties.headers == message.properties.headers)
        #expect(again.body == message.body)
    }

    @Test func anIDThatIsNamedIsKept() {
        var message = AMQPMessage(body: #"{"type": "reset", "id": "of-the-body"}"#)
        message.properties.messageID = "of-the-properties"
        #expect(message.forRepublishing().properties.messageID == "of-the-properties")
        #expect(AMQPMessage(body: "?").forRepublishing().properties.messageID == nil)
    }
}
