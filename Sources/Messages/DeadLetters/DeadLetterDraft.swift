package import AMQP
import Crypto
package import SyncModel

/// A message that cannot be used, for the dead-letter queue.
package struct DeadLetterDraft: Sendable {
    /// The bytes that are kept of a message whose content comes from a client: neither can a stranger fill the broker's disk with it, nor
    /// is it of use to publish it again.
    package static let excerptBytes = 16 << 10
    /// Also an operator's message must fit beside its new headers into what brokers take.
    static let maxWholeBytes = 8 << 20
    static let maxReasonBytes = 1_000

    package var message: AMQPMessage
    package var reason: String
    /// The queue that the message died in.
    package var queue: String
    package var app: String?
    /// The client realm that wrote the content; of its body the letter keeps an excerpt.
    package var writer: (realm: RealmName, clientFile: FileIdent)?
    /// Milliseconds of Unix time.
    package var diedAt: UInt64

    package init(
        _ message: AMQPMessage, reason: String, queue: String, app: String?,
        writer: (realm: RealmName, clientFile: FileIdent)? = nil, diedAt: UInt64
    ) {
        self.message = message
        self.reason = reason
        self.queue = queue
        self.app = app
        self.writer = writer
        self.diedAt = diedAt
    }

    package var letter: AMQPMessage {
        var letter = message.forRepublishing()
        var headers = letter.properties.headers
        headers[DeadLetter.reasonHeader] = .string(reason.prefix(utf8: Self.maxReasonBytes))
        headers[DeadLetter.queueHeader] = .string(queue)
        headers[DeadLetter.typeHeader] = .string(message.properties.type ?? "")
        headers[DeadLetter.timeHeader] = .int(Int64(clamping: diedAt))
        if let app { headers[DeadLetter.appHeader] = .string(app.prefix(utf8: 64)) }
        if let writer {
            headers[DeadLetter.partitionHeader] = .string(writer.realm.partition.prefix(utf8: 1_000))
            headers[DeadLetter.clientFileHeader] = .int(Int64(clamping: writer.clientFile.rawValue))
        }
        if letter.body.count > (writer == nil ? Self.maxWholeBytes : Self.excerptBytes) {
            headers[DeadLetter.lengthHeader] = .int(Int64(letter.body.count))
            headers[DeadLetter.digestHeader] = .string(HexBytes(Array(SHA256.hash(data: letter.body))).hex)
            letter.body = Array(letter.body.prefix(Self.excerptBytes))
        }
        letter.properties.headers = headers
        return letter
    }
}

extension String {
    /// The longest beginning that has at most so many bytes of UTF-8.
    fileprivate func prefix(utf8 count: Int) -> String {
        guard utf8.count > count else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
