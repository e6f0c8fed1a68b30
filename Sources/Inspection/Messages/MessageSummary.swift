package import AMQP
import ExtendedJSON
package import Messages
package import SyncModel

/// The part of a message that every operator may see: which realm and client file it is about, and how large it is. Contains no
/// users' data, salts, tokens or passwords.
package struct MessageSummary: Sendable, Equatable, Codable {
    package var type: String
    package var id: String?
    package var app: String?
    package var partition: String?
    package var clientFile: FileIdent?
    /// The session that sent the message, or that it was sent for: `GATEWAY/NUMBER`, as logs name it.
    package var session: String?
    package var slice: Int?
    package var bytes: Int
    /// A few words about the content.
    package var text: String
    /// The published events of which the commit made versions that an `integrated` message tells of.
    package var events: [NoticedEvent]?
    /// True of an `integrated` message that tells once more where a realm stands: nobody has written since.
    package var again: Bool?
    /// The name of a dead letter; nil of any other message, as are why and in which queue it died.
    package var letter: String?
    package var reason: String?
    package var queue: String?

    /// - Parameter isDead: whether the message has passed the exchange of dead letters.
    package init(
        _ message: AMQPMessage, routingKey: String = "", slices: SliceCount? = nil, isDead: Bool = false
    ) {
        bytes = message.body.count
        text = ""
        if isDead {
            let dead = DeadLetter(message)
            (letter, reason, queue) = (dead.name, dead.reason, dead.queue)
        }
        let events = message.notedEvents
        if !events.isEmpty { self.events = events }
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
            if let read = Self.readers[type] {
                let content = try read(message, id).get()
                (app, partition, clientFile) = (content.app, content.partition, content.clientFile)
                slice = content.slice?.value
                session = content.session?.description
                text = content.text
                if content.isAgain { again = true }
            } else {
                text = "a type that this version does not know"
            }
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
    package static let types: Set<String> = Set(readers.keys)

    /// The types that pass all the time, also when nobody writes: the clock, and what follows each tick of it.
    package static let clockTypes: Set<String> = [TickMessage.type, GenerationNotice.type]

    /// Whether the message passes because time does, and not because somebody has done something.
    package var isOfClock: Bool { Self.clockTypes.contains(type) || again == true }

    // MARK: Contents

    private typealias Reader = @Sendable (_ message: AMQPMessage, _ id: String?) -> Result<Content, MessageError>

    /// What reads the content of a message, by the message's type.
    private static let readers: [String: Reader] = {
        var readers: [String: Reader] = [
            SigningKeysNotice.type: { _, _ in .success(Content(text: "new keys sign tokens")) }
        ]
        func read<M: Message>(_ type: M.Type, withID content: @escaping @Sendable (M, _ id: String?) -> Content) {
            readers[M.type] = { message, id in
                do throws(MessageError) {
                    return .success(content(try message.decode(M.self), id))
                } catch {
                    return .failure(error)
                }
            }
        }
        func read<M: Message>(_ type: M.Type, _ content: @escaping @Sendable (M) -> Content) {
            read(type, withID: { message, _ in content(message) })
        }
        read(ChangesetMessage.self) { message in
            let size = message.entries.reduce(0) { $0 + $1.changeset.count }
            let count = "\(message.entries.count.counted("changeset")), \(size.counted("byte"))"
            let origin =
                message.upload.map {
                    "follows client version \($0.follows) to \($0.progress.clientVersion), generation \($0.generation)"
                } ?? "published from a shell"
            return Content(
                message.realm, message.upload?.clientFile, "\(count), \(origin)", of: message.upload?.session)
        }
        read(WriteMessage.self) { message in
            let count = message.writes.array?.count ?? 0
            return Content(message.realm, nil, "\(count.counted("write")) on documents")
        }
        read(BindRequest.self) {
            Content(
                $0.context.realm, nil, $0.needsClientFile ? "asks for a client file" : "has a client file",
                of: $0.context.session)
        }
        read(IdentifyRequest.self) {
            Content(
                $0.context.realm, $0.clientFile.ident, "has server version \($0.download.serverVersion)",
                of: $0.context.session)
        }
        read(PageRequest.self) {
            let text = "after server version \($0.after.serverVersion)" + ($0.isMark ? ", mark" : "")
            return Content($0.context.realm, $0.clientFile, text, of: $0.context.session)
        }
        read(UnbindNotice.self) {
            Content($0.realm, $0.clientFile, $0.isOrderly ? "session ended" : "connection lost", of: $0.session)
        }
        read(IntegratedNotice.self) {
            let files = $0.acknowledgements.map(\.clientFile)
            if files.isEmpty, $0.follows == $0.latest.version {
                return Content(
                    app: $0.realm.app, partition: $0.realm.partition, text: "still at server version \($0.follows)",
                    isAgain: true)
            }
            let text =
                "server versions \($0.follows) to \($0.latest.version), acknowledges "
                + "\(files.count.counted("client file"))"
            return Content($0.realm, files.count == 1 ? files[0] : nil, text)
        }
        read(
            TerminationMessage.self,
            withID: {
                let generation = $0.generation.map(String.init) ?? "next"
                return Content(app: $0.app, text: "campaign \($0.campaign ?? $1 ?? "?"), generation \(generation)")
            })
        read(ResetMessage.self, withID: { Content($0.realm, $0.clientFile, "campaign \($0.campaign ?? $1 ?? "?")") })
        read(EraseMessage.self, withID: { Content($0.realm, nil, "campaign \($0.campaign ?? $1 ?? "?")") })
        read(EraseAppMessage.self) { Content(app: $0.app) }
        read(AllowResetsMessage.self) { Content(app: $0.app, text: "for \($0.seconds) s") }
        read(RulesMessage.self) { Content(app: $0.app, text: "version \($0.version)") }
        read(SettingsNotice.self) { Content(app: $0.app, text: $0.user.map { "user \($0)" } ?? "") }
        read(GenerationNotice.self) { Content(app: $0.app, slice: $0.slice, text: "generation \($0.generation)") }
        read(ResetNotice.self) {
            Content(
                app: $0.app, partition: $0.partition, clientFile: $0.clientFile, slice: $0.slice,
                text: "code \($0.code.rawValue), generation \($0.generation), campaign \($0.campaign)")
        }
        read(ErasedReport.self) {
            Content(app: $0.app, slice: $0.slice, text: "\($0.erased.counted("realm")) erased, \($0.left) left")
        }
        read(QueriedReport.self) {
            let names = $0.fields.flatMap { className, names in names.map { "\(className).\($0)" } }.sorted()
            return Content(
                app: $0.app, clientFile: $0.clientFile,
                text: "subscriptions by \(names.prefix(8).joined(separator: ", "))")
        }
        read(LettersReport.self) {
            Content(
                text: "\($0.count.counted("dead letter")) \($0.action.rawValue) by \($0.by.prefix(200))"
            )
        }
        read(FoundReport.self) {
            let text = "\($0.clientRealms.count.counted("client realm")), campaign \($0.campaign)"
            return Content(app: $0.app, slice: $0.slice, text: text)
        }
        read(NotifiedReport.self) { Content($0.realm, $0.clientFile, "campaign \($0.campaign)") }
        read(OutcomeReport.self) { Content($0.realm, $0.identOld, "\($0.result.rawValue), \($0.evidence.rawValue)") }
        read(HeartbeatMessage.self) {
            Content(text: "\($0.worker) owns \($0.owns.count), stands by \($0.standsBy.count)")
        }
        read(ClaimMessage.self) { Content(text: "by \($0.worker)") }
        read(TickMessage.self) { _ in Content() }
        return readers
    }()
}

/// What a message is about, and a few words about it.
private struct Content {
    var app: String?
    var partition: String?
    var clientFile: FileIdent?
    var session: SessionReference?
    var slice: SliceNumber?
    var text = ""
    /// Whether the message repeats what gateways were told before.
    var isAgain = false
}

extension Content {
    init(_ realm: RealmName, _ clientFile: FileIdent?, _ text: String, of session: SessionReference? = nil) {
        self.init(
            app: realm.app, partition: realm.partition, clientFile: clientFile, session: session, text: text)
    }
}
