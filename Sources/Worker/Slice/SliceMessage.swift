package import AMQP
import Changesets
import Messages
import SyncModel

/// A message of a slice's queue, by type.
enum SliceMessage: Sendable {
    case changesets(ChangesetMessage)
    case write(WriteMessage)
    case bind(BindRequest)
    case identify(IdentifyRequest)
    case page(PageRequest)
    case unbind(UnbindNotice)
    case termination(TerminationMessage)
    case reset(ResetMessage)
    case rules(RulesMessage)
    case allowResets(AllowResetsMessage)
    case erase(EraseMessage)
    case eraseApp(EraseAppMessage)
    case tick(TickMessage)
    case claim

    /// - Throws: `MessageError` for a body that does not hold what its type needs, `PoisonError` for an unknown type.
    init(_ message: AMQPMessage, type: String) throws {
        self =
            switch type {
            case ChangesetMessage.type: .changesets(try message.decode(ChangesetMessage.self))
            case WriteMessage.type: .write(try message.decode(WriteMessage.self))
            case BindRequest.type: .bind(try message.decode(BindRequest.self))
            case IdentifyRequest.type: .identify(try message.decode(IdentifyRequest.self))
            case PageRequest.type: .page(try message.decode(PageRequest.self))
            case UnbindNotice.type: .unbind(try message.decode(UnbindNotice.self))
            case TerminationMessage.type: .termination(try message.decode(TerminationMessage.self))
            case ResetMessage.type: .reset(try message.decode(ResetMessage.self))
            case RulesMessage.type: .rules(try message.decode(RulesMessage.self))
            case AllowResetsMessage.type: .allowResets(try message.decode(AllowResetsMessage.self))
            case EraseMessage.type: .erase(try message.decode(EraseMessage.self))
            case EraseAppMessage.type: .eraseApp(try message.decode(EraseAppMessage.self))
            case TickMessage.type: .tick(try message.decode(TickMessage.self))
            case ClaimMessage.type: .claim
            default:
                throw PoisonError(
                    reason: "message type \"\(type)\" is unknown; docs/messages.md lists the types", app: nil)
            }
    }

    /// The one realm that the message is about; nil for a message about an app or the whole slice.
    var realm: RealmName? {
        switch self {
        case .changesets(let message): message.realm
        case .write(let message): message.realm
        case .unbind(let notice): notice.realm
        case .reset(let message): message.realm
        case .erase(let message): message.realm
        case .bind, .identify, .page: request?.realm
        case .termination, .rules, .allowResets, .eraseApp, .tick, .claim: nil
        }
    }

    /// The context of a request whose answer a session waits for; nil for other messages.
    var request: RequestContext? {
        switch self {
        case .bind(let request): request.context
        case .identify(let request): request.context
        case .page(let request): request.context
        case .changesets, .write, .unbind, .termination, .reset, .rules, .allowResets, .erase, .eraseApp, .tick, .claim:
            nil
        }
    }
}

/// A message as it was delivered, with what it says.
package struct SliceDelivery: Sendable {
    let original: AMQPMessage
    /// Tells a repetition; nil if the publisher gave none.
    let id: String?
    let content: Result<SliceMessage, PoisonError>
    /// Why only a newer version of Sluice can read it; nil if that is not so.
    let newer: MessageError?
    /// The changesets that it carries, one for each entry.
    let changesets: [Result<Changeset, ChangesetError>]

    package init(_ message: AMQPMessage) {
        original = message
        var id: String?
        var newer: MessageError?
        do {
            let envelope = try Envelope(of: message)
            id = envelope.id
            content = .success(try SliceMessage(message, type: envelope.type))
        } catch let error as PoisonError {
            content = .failure(error)
        } catch {
            newer = (error as? MessageError).flatMap { $0.isNewer ? $0 : nil }
            content = .failure(PoisonError(reason: "\(error)"))
        }
        (self.id, self.newer) = (id, newer)
        guard case .success(.changesets(let carrying)) = content else {
            changesets = []
            return
        }
        changesets = carrying.entries.map { entry in
            Result { () throws(ChangesetError) in try Changeset(parsing: entry.changeset) }
        }
    }

    /// The one realm that the message is about; nil also if it cannot be read.
    var realm: RealmName? { try? content.get().realm }

    /// The client realm that has written what the message carries; nil for what a shell or another process has made.
    var writer: (realm: RealmName, clientFile: FileIdent)? {
        upload.map { ($0.realm, $1.clientFile) }
    }

    /// The app that the message is about.
    var app: String? {
        switch content {
        case .success(.termination(let message)): message.app
        case .success(.eraseApp(let message)): message.app
        default: realm?.app
        }
    }

    /// The upload that the message is, with its message.
    var upload: (ChangesetMessage, ChangesetMessage.Upload)? {
        guard case .success(.changesets(let message)) = content else { return nil }
        return message.upload.map { (message, $0) }
    }
}

/// Where the answer to a request goes.
struct ReplyAddress {
    var queue: String
    var correlationID: String?
    /// Whether the broker has delivered the request before: then its sender may have gone on since.
    var isRedelivered = false
}
