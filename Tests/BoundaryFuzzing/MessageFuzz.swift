import AMQP
import Foundation
import MergeConformance
import Messages
package import SyncModel
import Worker

package enum MessageFuzz {
    /// The first byte says which type the message has, and whether its body is binary; the rest is the body.
    static let types: [any Message.Type] = [
        ChangesetMessage.self, BindRequest.self, IdentifyRequest.self, PageRequest.self, UnbindNotice.self,
        TerminationMessage.self, ResetMessage.self, RulesMessage.self, AllowResetsMessage.self, TickMessage.self,
        ClaimMessage.self, BoundAnswer.self, IdentifiedAnswer.self, ConfirmAnswer.self, PageAnswer.self,
        RefusedAnswer.self, IntegratedNotice.self, ResetNotice.self, GenerationNotice.self, SettingsNotice.self,
        SigningKeysNotice.self, HeartbeatMessage.self, FoundReport.self, NotifiedReport.self, OutcomeReport.self,
        GatewayFigures.self, CoordinatorFigures.self, DashboardLogout.self, WriteMessage.self, WrittenAnswer.self,
        WriteRefusedAnswer.self,
    ]

    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let first = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        let number = Int(first & 0x3f)
        var properties = AMQPProperties(
            messageID: "m1", contentType: first & 0x80 == 0 ? ContentType.json : ContentType.binary)
        // Beyond the types: a message as a shell publishes it, which says in its body what it is.
        if number < types.count { properties.type = types[number].type } else { properties.messageID = nil }
        let message = AMQPMessage(body: body, properties: properties)
        if number < types.count { try check(types[number], message) }
        _ = SliceDelivery(message)
        let draft = DeadLetterDraft(
            message, reason: String(decoding: body, as: UTF8.self), queue: "sluice.slice.1", app: "tasks",
            writer: (RealmName(app: "tasks", partition: String(decoding: body.prefix(2000), as: UTF8.self)), 3),
            diedAt: 1)
        let letter = DeadLetter(draft.letter)
        try BrokenLaw.check(
            letter.length == body.count && letter.kept <= DeadLetterDraft.excerptBytes, "a letter keeps too much")
        try BrokenLaw.check(letter.reason.utf8.count <= 1000, "a letter's reason is too long")
    }

    /// How the input would be written as JSON, for those who compare that with the description of messages.
    package static func written(_ bytes: [UInt8]) -> (type: String, swiftType: String, json: JSONValue)? {
        guard let first = bytes.first, Int(first & 0x3f) < types.count else { return nil }
        let type = types[Int(first & 0x3f)]
        func json<M: Message>(_ type: M.Type) -> JSONValue? {
            let properties = AMQPProperties(
                type: type.type, messageID: "m1",
                contentType: first & 0x80 == 0 ? ContentType.json : ContentType.binary)
            let message = AMQPMessage(body: Array(bytes.dropFirst()), properties: properties)
            guard let read = try? message.decode(type), let body = try? read.jsonBody() else {
                return nil
            }
            return try? JSONParser.parse(body)
        }
        return json(type).map { (type.type, "\(type)", $0) }
    }

    /// What is read is the same once it is written and read again.
    private static func check<M: Message>(_ type: M.Type, _ message: AMQPMessage) throws(BrokenLaw) {
        guard let read = try? message.decode(type) else { return }
        guard let written = try? AMQPMessage(read, id: "m1") else {
            throw BrokenLaw("what was read as \(M.type) cannot be written")
        }
        guard let again = try? written.decode(type) else {
            throw BrokenLaw("\(M.type) cannot be read once it is written")
        }
        let rewritten = try? AMQPMessage(again, id: "m1")
        try BrokenLaw.check(rewritten?.body == written.body, "\(M.type) is another message once it is written")
    }
}
