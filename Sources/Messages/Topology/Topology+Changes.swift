package import AMQP
package import Changesets
import SyncModel

// The change feed's exchange and queues.
extension Topology {
    /// The topic exchange of what versions do to documents: `<app>.<class>.<operation>`.
    package var changes: String { "\(prefix).changes" }
    /// The queue of a feed that was made by name.
    package func feed(_ name: String) -> String { "\(prefix).feed.\(name)" }
    /// The queue that keeps the last message that a feed's queue had to let go of: whoever finds one has missed something.
    package func lostOfFeed(_ name: String) -> String { "\(feed(name)).lost" }

    /// The word in the class's place for what is of no class.
    private static let noClass = "%"
    /// A routing key has room for 255 bytes.
    private static let maxWordBytes = 160

    /// - Parameter className: nil for what is of a whole realm.
    package static func changeKey(app: String, class className: ByteString?, operation: String) -> String {
        "\(RealmName.topicWord(app)).\(className.map(word) ?? noClass).\(operation)"
    }

    /// The patterns by which a queue gets an app's changes.
    ///
    /// - Parameter className: nil: all classes.
    package static func changeKeys(app: String, class className: ByteString?) -> [String] {
        guard let className else { return ["\(RealmName.topicWord(app)).#"] }
        // What is of a whole realm is of its classes, too.
        return [
            changeKey(app: app, class: className, operation: "*"),
            changeKey(app: app, class: nil, operation: "*"),
        ]
    }

    /// A class's name without what means something in a routing key or a pattern, as `%2E` and the like.
    private static func word(_ className: ByteString) -> String {
        var word = ""
        for byte in className.bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                word.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                word += "%\(byte < 16 ? "0" : "")\(hex)"
            }
        }
        guard word.utf8.count > maxWordBytes else { return word }
        return "%%\(ObjectID.hex(FNV1a.hash64(className.bytes), digits: 16))"
    }

    /// A feed's queue: what is older than `keep`, or beyond `maxBytes`, goes, and the last of it stays in the queue of what was lost.
    ///
    /// Of several consumers one gets the changes, so that they stay in order.
    ///
    /// - Parameter keep: milliseconds.
    package func feedQueueArguments(_ name: String, keep: Int64, maxBytes: Int64) -> AMQPTable {
        [
            "x-queue-type": "quorum", "x-message-ttl": .int(keep), "x-max-length-bytes": .int(maxBytes),
            "x-overflow": "drop-head", "x-single-active-consumer": true, "x-delivery-limit": 1_000_000_000,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": .string(lostOfFeed(name)),
        ]
    }

    /// A feed's stream: changes stay there when they are read, and several read each by itself, from any of them on. What is older than `keep`, or beyond
    /// `maxBytes`, goes a segment at a time, so segments are small.
    ///
    /// - Parameter keep: milliseconds.
    package func feedStreamArguments(keep: Int64, maxBytes: Int64) -> AMQPTable {
        [
            "x-queue-type": "stream", "x-max-age": .string("\(max(1, keep / 1_000))s"),
            "x-max-length-bytes": .int(maxBytes),
            "x-stream-max-segment-size-bytes": .int(min(max(maxBytes / 8, 1_000_000), 100_000_000)),
        ]
    }

    package var lostQueueArguments: AMQPTable {
        ["x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "drop-head"]
    }
}
