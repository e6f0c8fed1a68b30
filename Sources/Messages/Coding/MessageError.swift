/// A message that cannot be decoded, or does not hold what its type needs.
package struct MessageError: Error, CustomStringConvertible, Sendable {
    package var messageType: String
    package var reason: String

    package init(messageType: String, reason: String) {
        self.messageType = messageType
        self.reason = reason
    }

    package var description: String { "\(messageType) message refused: \(reason)" }
}
