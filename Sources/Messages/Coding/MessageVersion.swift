package import AMQP

/// The version of what messages say and how, so that a process can tell a message of a newer version of Sluice from one that nobody
/// can use.
///
/// A version that sends messages of a new type, or says something in an old type that must not be overlooked, marks them with the
/// version that can read them. The binary forms have versions of their own, in their first byte.
package enum MessageVersion {
    /// The first that knows flexible realms.
    package static let flexible: Int64 = 2
    /// The first that knows of properties that become queryable in development mode.
    package static let queried: Int64 = 3
    /// The first that knows writes on documents.
    package static let documents: Int64 = 4
    /// The first that knows of what shells have done with dead letters.
    package static let letters: Int64 = 5
    /// The first that knows writes on documents for a user.
    package static let authors: Int64 = 6
    /// The newest that this program reads.
    package static let known: Int64 = 6
    /// The header with a message's version. A message without the header is of version 1.
    package static let header = "x-sluice-version"
}

extension AMQPMessage {
    /// The version that the message is marked with.
    package var markedVersion: Int64 { properties.headers[MessageVersion.header]?.intValue ?? 1 }

    /// A copy to put at the end of the queue in which the message came, for a process of a newer version to take: as if it had never
    /// been delivered, since brokers set messages aside that were delivered too often.
    package func returned() -> AMQPMessage {
        var message = forRepublishing()
        for header in ["x-delivery-count", "x-acquired-count"] { message.properties.headers[header] = nil }
        return message
    }
}
