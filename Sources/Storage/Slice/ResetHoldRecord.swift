/// A slice has stopped asking an app's clients to reset, or an operator has let it go on.
package struct ResetHoldRecord: Codable, Sendable, Equatable {
    package var app: String
    /// When too many resets had come together (milliseconds of Unix time, like all times here); nil once they may go on.
    package var heldSince: UInt64?
    /// How many client files were to reset within a minute then, and how many live ones the app had in the slice.
    package var asked: Int
    package var clientFiles: Int
    /// The time until which an operator lets the app's clients reset, however many they are.
    package var allowedUntil: UInt64?

    package init(app: String, heldSince: UInt64?, asked: Int, clientFiles: Int, allowedUntil: UInt64? = nil) {
        self.app = app
        self.heldSince = heldSince
        self.asked = asked
        self.clientFiles = clientFiles
        self.allowedUntil = allowedUntil
    }
}
