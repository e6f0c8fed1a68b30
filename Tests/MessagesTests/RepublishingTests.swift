import AMQP
import Messages
import TestSupport
import Testing

@Suite struct RepublishingTests {
    @Test func republishedMessageLosesUserAndExpirationAndPersists() {
        var message = AMQPMessage(body: #"{"type": "reset", "id": "reset-7"}"#)
        message.properties.userID = "shell"
        message.properties.expiration = "1000"
        message.properties.persistent = false
        message.properties.headers["x"] = .int(1)
        let again = message.forRepublishing()
        expectTrue(again.properties.userID == nil)
        expectTrue(again.properties.expiration == nil)
        expectTrue(again.properties.persistent)
        expectEqual(again.properties.messageID, "reset-7")
        expectEqual(again.properties.headers, message.properties.headers)
        expectEqual(again.body, message.body)
    }

    @Test func anIDThatIsNamedIsKept() {
        var message = AMQPMessage(body: #"{"type": "reset", "id": "of-the-body"}"#)
        message.properties.messageID = "of-the-properties"
        expectEqual(message.forRepublishing().properties.messageID, "of-the-properties")
        expectTrue(AMQPMessage(body: "?").forRepublishing().properties.messageID == nil)
    }
}
