import Messages
import Storage
import SyncModel
import SyncProtocol

/// What happens to a session. The client's messages have passed the protocol's checkers.
enum SessionEvent: Sendable {
    case bind(needsIdent: Bool, app: AppRecord)
    case ident(Ident)
    /// `bytes`: what it counts against the budget of unacknowledged uploads.
    case upload(Upload, bytes: Int)
    case mark(RequestIdent)
    case clientFailed(ClientJSONError)
    /// `answer`: an UNBOUND is due.
    case unbind(answer: Bool)
    case connectionLost
    /// A message broke the rules, for this session.
    case violation(SyncProtocolError)
    case cluster(ClusterEvent)
    /// The app's settings as they are now; nil if it is gone.
    case settings(AppRecord?)
    /// Whether clients of the app may recover in a reset, as the settings say now.
    case recovery(Bool)
    /// The socket has taken everything.
    case drained
    case tick
}

/// What the cluster tells a session.
enum ClusterEvent: Sendable {
    case bound(BoundAnswer)
    case identified(IdentifiedAnswer)
    case confirm(ConfirmAnswer)
    case page(PageAnswer)
    case refused(RefusedAnswer)
    case requestFailed(GatewayError)
    case fanned(FannedNotice)
    /// Notices were dropped: the session may have missed history.
    case missed
    case reset(ResetNotice)
    case generation(GenerationNotice)
    /// The broker has confirmed the upload with this number.
    case published(UInt64)
    case publishFailed(UInt64, GatewayError)
    /// The broker is back; what was in flight may be lost.
    case linkUp
}

extension ClusterEvent {
    /// A notice for one session alone.
    static func integrated(_ notice: IntegratedNotice) -> ClusterEvent { .fanned(FannedNotice(notice)) }
}

/// What a session wants done, in this order.
enum SessionAction: Sendable {
    case send(ServerMessage)
    /// A DOWNLOAD whose entries are encoded already.
    case sendPacked(Download, PackedEntries)
    /// The same, and once it is written the coordinator is told that this client realm knows of its reset.
    case sendReset(ServerMessage, NotifiedReport)
    /// Listen for the realm's notices, and only then ask.
    case subscribeAndBind(BindRequest)
    case identify(IdentifyRequest)
    case page(PageRequest)
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
