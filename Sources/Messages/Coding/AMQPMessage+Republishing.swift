package import AMQP

extension AMQPMessage {
    /// The same message for somebody else to publish again: the broker must take it from that one, and keep it.
    package func forRepublishing() -> AMQPMessage {
        var message = self
        // One that only its body names would be given another id on the way, and its effect could be had twice.
        if message.properties.messageID == nil { message.properties.messageID = (try? Envelope(of: message))?.id }
        // The broker refuses another user's than the publisher's login, and closes the channel.
        message.properties.userID = nil
        // What waits for an operator, or for its slice's owner, waits for as long as it takes.
        message.properties.expiration = nil
        message.properties.persistent = true
        return message
    }
}
