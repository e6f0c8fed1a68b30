import AMQP
import MergeConformance
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

/// What the fuzzers have found to be of interest in messages, as operators' commands show them.
@Suite struct MessageCorpusTests {
    @Test func everyMessageCanBeShown() throws {
        let corpus = try FuzzCorpus("message").bytes
        var changes = ChangedInputs(of: corpus)
        for bytes in corpus + (0..<1_000).map({ _ in changes.next() }) {
            guard let first = bytes.first else { continue }
            for type in MessageSummary.types.sorted() {
                let properties = AMQPProperties(
                    type: type, messageID: "m1",
                    contentType: first & 0x80 == 0 ? ContentType.json : ContentType.binary)
                let message = AMQPMessage(body: Array(bytes.dropFirst()), properties: properties)
                let summary = MessageSummary(message, routingKey: "3", slices: SliceCount(4))
                expectTrue(summary.type == type && summary.bytes == message.body.count)
                expectTrue(MessageBody.text(of: message, maxCharacters: 100).count <= 140)
            }
        }
    }
}
