package import AMQP
import Foundation

/// A message's type and id, from its AMQP properties or else from its JSON body.
///
/// Debian's `amqp-publish` sets neither `type` nor `message-id`, so a JSON body may carry them as its own keys `type`
/// and `id`.
package struct Envelope: Sendable, Equatable {
    package var type: String
    /// Nil if the publisher gave none: then a redelivery cannot be told from a second event.
    package var id: String?

    package init(of message: AMQPMessage) throws(MessageError) {
        guard message.markedVersion <= MessageVersion.known else {
            throw MessageError(
                messageType: message.properties.type ?? "unnamed",
                reason: "version \(message.markedVersion); this build reads versions up to \(MessageVersion.known)",
                isNewer: true)
        }
        let isJSON = (message.properties.contentType ?? ContentType.json) == ContentType.json
        let keys =
            isJSON && (message.properties.type == nil || message.properties.messageID?.isEmpty ?? true)
            ? try? JSONDecoder().decode(Keys.self, from: Data(message.body)) : nil
        guard let type = message.properties.type ?? keys?.type, !type.isEmpty else {
            throw MessageError(
                messageType: "unnamed",
                reason: "neither the AMQP property \"type\" nor a key \"type\" in a JSON body says what it is")
        }
        self.type = type
        // Some publishers send an empty one for none.
        func named(_ id: String?) -> String? { id?.isEmpty == false ? id : nil }
        id = named(message.properties.messageID) ?? named(keys?.id)
        if let id, id.utf8.count > Self.maxIDBytes || id.utf8.contains(0) {
            throw MessageError(
                messageType: type,
                reason: "an id of \(id.utf8.count) bytes; expected at most \(Self.maxIDBytes), none of them U+0000")
        }
    }

    /// The bytes that the AMQP property `message-id` has room for.
    private static let maxIDBytes = 255

    private struct Keys: Decodable {
        var type: String?
        var id: String?
    }
}
