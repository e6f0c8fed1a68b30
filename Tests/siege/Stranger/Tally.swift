import Synchronization

/// What a stranger has sent, and what it was told.
final class Tally: Sendable {
    struct Counts: Codable, Sendable {
        /// Protocol messages, HTTP requests and connections that said nothing.
        var messages = 0
        var bytesSent = 0
        var bytesReceived = 0
        /// How often each refusal came: an error code of the sync protocol, an HTTP status, a close code, the end of a
        /// connection, or no answer.
        var refusals: [String: Int] = [:]
        /// What was taken: acknowledged uploads, sessions opened, logins.
        var accepted = 0
    }

    private let counts = Mutex(Counts())

    var current: Counts { counts.withLock { $0 } }

    func sent(_ bytes: Int) {
        counts.withLock {
            $0.messages += 1
            $0.bytesSent += bytes
        }
    }
    func received(_ bytes: Int) { counts.withLock { $0.bytesReceived += bytes } }
    func refused(_ how: String) { counts.withLock { $0.refusals[how, default: 0] += 1 } }
    func accepted() { counts.withLock { $0.accepted += 1 } }
}

/// Why an exchange with the server did not go on as its client meant it to.
struct Refused: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
