package import AMQP
package import Messages
package import SyncModel

/// One message of the dead-letter queue, without what users wrote.
package struct DeadLetterEntry: Sendable, Equatable, Codable {
    /// See `DeadLetter`.
    package var name: String
    /// The message's id.
    package var id: String?
    package var type: String
    package var app: String?
    package var partition: String?
    package var clientFile: FileIdent?
    /// The queue that the message died in.
    package var queue: String?
    package var reason: String
    /// When the message died, in milliseconds of Unix time.
    package var diedAt: UInt64?
    /// When the publisher says that it published the message, in seconds of Unix time.
    package var publishedAt: UInt64?
    /// The bytes of the body as it was, and how many of them the letter has.
    package var bytes: Int
    package var kept: Int
    package var text: String

    package init(_ letter: DeadLetter, _ message: AMQPMessage, slices: SliceCount) {
        let summary = MessageSummary(message, slices: slices)
        name = letter.name
        id = summary.id
        type = summary.type
        app = letter.app ?? summary.app
        partition = letter.partition ?? summary.partition
        clientFile = letter.clientFile ?? summary.clientFile
        queue = letter.queue
        reason = letter.reason
        diedAt = letter.diedAt
        publishedAt = message.properties.timestamp
        bytes = letter.length
        kept = letter.kept
        text = letter.isExcerpt ? "the first \(letter.kept) bytes of \(letter.length)" : summary.text
    }
}

/// The dead letters that a command is about.
package struct DeadLetterFilter: Sendable, Equatable {
    /// Names and message ids; if empty, every letter that passes the other conditions.
    package var letters: Set<String>
    package var app: String?
    /// A part of the reason, in upper or lower case.
    package var reason: String?
    package var type: String?

    package init(letters: Set<String> = [], app: String? = nil, reason: String? = nil, type: String? = nil) {
        self.letters = letters
        self.app = app
        self.reason = reason
        self.type = type
    }

    package func accepts(_ entry: DeadLetterEntry) -> Bool {
        let isNamed = letters.isEmpty || letters.contains(entry.name) || entry.id.map { letters.contains($0) } == true
        return isNamed && (app == nil || entry.app == app) && (type == nil || entry.type == type)
            && (reason == nil || entry.reason.lowercased().contains(reason?.lowercased() ?? ""))
    }
}
