package import AMQP

extension AMQPMessage {
    /// The message for another user to publish again: the broker accepts it under that login, and keeps it on disk.
    package func forRepublishing() -> AMQPMessage {
        var message = self
        // Keep an id that only the body names: with another one the message could take effect twice.
        if message.properties.messageID?.isEmpty ?? true {
            message.properties.messageID = (try? Envelope(of: message))?.id
        }
        // The broker closes the channel if this is not the publisher's own login.
        message.properties.userID = nil
        // A message that waits for an operator, or for its slice's owner, must not expire.
        message.properties.expiration = nil
        message.properties.persistent = true
        return message
    }
}
