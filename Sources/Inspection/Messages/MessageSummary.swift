package import AMQP
import Foundation
import Messages
package import SyncModel

/// What every operator may see of a message: which realm and client file it is about, and how large it is. Contains no
/// users' data, salts, tokens or passwords.
package struct MessageSummary: Sendable, Equatable, Codable {
    package var type: String
    package var id: String?
    package var app: String?
    package var partition: String?
    package var clientFile: FileIdent?
    package var slice: Int?
    package var bytes: Int
    /// A few words about the content.
    package var text: String

    package init(_ message: AMQPMessage, routingKey: String = "", slices: SliceCount? = nil) {
        bytes = message.body.count
        text = ""
        do {
            let envelope = try Envelope(of: message)
            type = envelope.type
            id = envelope.id
        } catch {
            type = message.properties.type ?? "?"
            id = message.properties.messageID
            text = error.reason
            return
        }
        do {
            try describe(message)
        } catch {
            text = "not readable: \(error.reason)"
        }
        if slice == nil, let app, let partition, let slices {
            slice = RealmName(app: app, partition: partition).slice(of: slices).value
        }
        if slice == nil, let number = Int(routingKey), let slices, (0..<slices.value).contains(number) {
            slice = number
        }
    }

    /// The types of message that pass the exchanges, where `sluice tail` sees them.
    package static let types: Set<String> = [
        ChangesetMessage.type, BindRequest.type, IdentifyRequest.type, PageRequest.type, UnbindNotice.type,
        IntegratedNotice.type, TerminationMessage.type, ResetMessage.type, ResetNotice.type, GenerationNotice.type,
        SettingsNotice.type, SigningKeysNotice.type, FoundReport.type, NotifiedReport.type, OutcomeReport.type,
        HeartbeatMessage.type, ClaimMessage.type, TickMessage.type, RulesMessage.type, AllowResetsMessage.type,
        EraseMessage.type, EraseAppMessage.type, ErasedReport.type,
    ]

    private mutating func about(_ realm: RealmName, clientFile: FileIdent? = nil) {
        app = realm.app
        partition = realm.partition
        self.clientFile = clientFile
    }

    private mutating func describe(_ message: AMQPMessage) throws(MessageError) {
        switch type {
        case ChangesetMessage.type:
            let message = try message.decode(ChangesetMessage.self)
            about(message.realm, clientFile: message.upload?.clientFile)
            let size = message.entries.reduce(0) { $0 + $1.changeset.count }
            let count = "\(message.entries.count) changeset\(message.entries.count == 1 ? "" : "s"), \(size) bytes"
            text =
                message.upload.map {
                    "\(count), follows client version \($0.follows) to \($0.progress.clientVersion), generation \($0.generation)"
                } ?? "\(count), published from a shell"
        case BindRequest.type:
            let message = try message.decode(BindRequest.self)
            about(message.context.realm)
            text = message.needsClientFile ? "asks for a client file" : "has a client file"
        case IdentifyRequest.type:
            let message = try message.decode(IdentifyRequest.self)
            about(message.context.realm, clientFile: message.clientFile.ident)
            text = "has server version \(message.download.serverVersion)"
        case PageRequest.type:
            let message = try message.decode(PageRequest.self)
            about(message.context.realm, clientFile: message.clientFile)
            text = "after server version \(message.after.serverVersion)" + (message.isMark ? ", mark" : "")
        case UnbindNotice.type:
            let message = try message.decode(UnbindNotice.self)
            about(message.realm, clientFile: message.clientFile)
            text = message.isOrderly ? "session ended" : "connection lost"
        case IntegratedNotice.type:
            let message = try message.decode(IntegratedNotice.self)
            about(message.realm)
            if message.acknowledgements.count == 1 { clientFile = message.acknowledgements.first?.clientFile }
            text =
                "server versions \(message.follows) to \(message.latest.version), acknowledges "
                + "\(message.acknowledgements.count) client file\(message.acknowledgements.count == 1 ? "" : "s")"
        default: try describeControl(message)
        }
    }

    private mutating func describeControl(_ message: AMQPMessage) throws(MessageError) {
        switch type {
        case TerminationMessage.type:
            let message = try message.decode(TerminationMessage.self)
            app = message.app
            text =
                "campaign \(message.campaign ?? id ?? "?"), generation \(message.generation.map(String.init) ?? "next")"
        case AllowResetsMessage.type:
            let message = try message.decode(AllowResetsMessage.self)
            app = message.app
            text = "for \(message.seconds) s"
        case ResetMessage.type:
            let message = try message.decode(ResetMessage.self)
            about(message.realm, clientFile: message.clientFile)
            text = "campaign \(message.campaign ?? id ?? "?")"
        case ResetNotice.type:
            let message = try message.decode(ResetNotice.self)
            (app, partition, clientFile) = (message.app, message.partition, message.clientFile)
            slice = message.slice.value
            text = "code \(message.code.rawValue), generation \(message.generation), campaign \(message.campaign)"
        case GenerationNotice.type:
            let message = try message.decode(GenerationNotice.self)
            (app, slice) = (message.app, message.slice.value)
            text = "generation \(message.generation)"
        case SigningKeysNotice.type: text = "new keys sign tokens"
        case SettingsNotice.type:
            let message = try message.decode(SettingsNotice.self)
            app = message.app
            text = message.user.map { "user \($0)" } ?? ""
        case RulesMessage.type:
            let message = try message.decode(RulesMessage.self)
            app = message.app
            text = "version \(message.version)"
        case EraseMessage.type:
            let message = try message.decode(EraseMessage.self)
            about(message.realm)
            text = "campaign \(message.campaign ?? id ?? "?")"
        case EraseAppMessage.type: app = try message.decode(EraseAppMessage.self).app
        case ErasedReport.type:
            let message = try message.decode(ErasedReport.self)
            (app, slice) = (message.app, message.slice.value)
            text = "\(message.erased) realms erased, \(message.left) left"
        case FoundReport.type:
            let message = try message.decode(FoundReport.self)
            (app, slice) = (message.app, message.slice.value)
            text = "\(message.clientRealms.count) client realms, campaign \(message.campaign)"
        case NotifiedReport.type:
            let message = try message.decode(NotifiedReport.self)
            about(message.realm, clientFile: message.clientFile)
            text = "campaign \(message.campaign)"
        case OutcomeReport.type:
            let message = try message.decode(OutcomeReport.self)
            about(message.realm, clientFile: message.identOld)
            text = "\(message.result.rawValue), \(message.evidence.rawValue)"
        case HeartbeatMessage.type:
            let message = try message.decode(HeartbeatMessage.self)
            text = "\(message.worker) owns \(message.owns.count), stands by \(message.standsBy.count)"
        case ClaimMessage.type: text = "by \(try message.decode(ClaimMessage.self).worker)"
        case TickMessage.type: _ = try message.decode(TickMessage.self)
        default: text = "a type that this version does not know"
        }
    }
}
