/// A message that cannot be decoded, or does not hold what its type needs.
package struct MessageError: Error, CustomStringConvertible, Sendable {
    package var messageType: String
    package var reason: String
    /// Whether a newer version of Sluice reads it.
    package var isNewer: Bool

    package init(messageType: String, reason: String, isNewer: Bool = false) {
        self.messageType = messageType
        self.reason = reason
        self.isNewer = isNewer
    }

    package var description: String { "\(messageType) message refused: \(reason)" }
}
