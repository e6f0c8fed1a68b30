import Messages
import Storage
import SyncModel
import SyncProtocol

/// An event in a session's life. The client's messages have passed the protocol's checkers.
enum SessionEvent: Sendable {
    // From the client.
    /// - replaces: the client file in whose place the client asks for one.
    case bind(needsIdent: Bool, app: AppRecord, replaces: FileIdent? = nil)
    case ident(Ident)
    /// `bytes`: what it counts against the budget of unacknowledged uploads.
    case upload(Upload, bytes: Int)
    /// An upload came that goes beyond a quota, and was not taken.
    case beyond(Quota, limit: Int, seconds: Int)
    case mark(RequestIdent)
    /// A new subscription set.
    case query(QuerySet)
    case clientFailed(ClientJSONError)
    /// `answer`: an UNBOUND is due.
    case unbind(answer: Bool)
    case connectionLost
    /// A message broke the rules, for this session.
    case violation(SyncProtocolError)

    // From the owner of the realm's slice.
    case bound(BoundAnswer)
    case identified(IdentifiedAnswer)
    case confirm(ConfirmAnswer)
    case page(PageAnswer)
    /// - Parameter isAnswer: whether a request is refused; else it is an upload.
    case refused(RefusedAnswer, isAnswer: Bool = true)
    case fanned(FannedNotice)
    /// The versions that were asked for, which the gateway has at hand.
    case recent(RecentStretch)
    /// A notice of a flexible realm that concerns the session.
    case viewed(ViewedNotice)
    /// The flexible realm stands here, and what concerns the session of that it was told.
    case stands(SaltedServerVersion)
    /// This gateway has heard of the version.
    case heardOf(ServerVersion)
    case reset(ResetNotice)
    case generation(GenerationNotice)

    // From the gateway itself.
    /// A request got no answer, or never reached its owner.
    case requestFailed(GatewayError)
    /// Notices were dropped: the session may have missed history.
    case missed
    /// The broker has confirmed the upload with this number.
    case published(UInt64)
    case publishFailed(UInt64, GatewayError)
    /// The broker is back; what was in flight may be lost.
    case linkUp
    /// A message of this session was held back, because the client would not have survived it.
    case unsendable
    /// The app's settings as they are now; nil if it is gone.
    case settings(AppRecord?)
    /// Whether clients of the app may recover in a reset, as the settings say now.
    case recovery(Bool)
    /// The user's rights were decided again.
    case judged(SessionRights, roles: String? = nil, home: String? = nil)
    /// The socket has taken everything.
    case drained
    case tick

    /// The notice of new history that it tells of, if it does.
    var notice: FannedNotice? {
        switch self {
        case .fanned(let notice): notice
        case .viewed(let notice): notice.fanned
        default: nil
        }
    }
}

/// An action that a session wants done; they are done in the order in which it gives them.
enum SessionAction: Sendable {
    case send(ServerMessage)
    /// A DOWNLOAD whose entries are encoded already.
    case sendPacked(Download, PackedEntries)
    /// An error that asks for a client reset: once it is written the coordinator is told that this client realm knows of its reset.
    case sendReset(ServerMessage, NotifiedReport)
    /// The same by closing the socket with 1009, at which stock clients say that a limit was exceeded.
    case closeTooLarge(reason: String, NotifiedReport?)
    /// Listen for the realm's notices, and only then ask.
    case subscribeAndBind(BindRequest)
    case identify(IdentifyRequest)
    /// - Parameter recent: where the session stands, if versions that the gateway has at hand do as well.
    case page(PageRequest, recent: RecentPosition? = nil)
    /// Tell the session from here on of the commits that concern its view.
    case follow(Following)
    case publish(ChangesetMessage, number: UInt64)
    case reset(ResetMessage)
    /// Notices are of no use any more.
    case unsubscribe
    case report(UnbindNotice)
    /// The owner knows the session's client realm: an older connection with the same one is a zombie.
    case claim(ClientFileIdent)
    case recorded(UploadCursor, lockedServerVersion: ServerVersion)
    /// The session is over and forgotten.
    case forget
}
