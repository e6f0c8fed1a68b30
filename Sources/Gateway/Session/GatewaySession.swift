import Messages
import Storage
import SyncModel
import SyncProtocol

/// One session of one client realm at this gateway: decides, and leaves the doing to its connection. Pure.
///
/// BIND, then IDENT, then pages of history until the client has everything, then live: notices are passed on as they
/// come. Whatever does not fit (a notice that follows another version, an owner that was away) ends in asking the owner
/// for the page after the session's position: it always converges.
struct GatewaySession: Sendable {
    enum Phase: Sendable, Equatable {
        case binding
        /// The client's IDENT is due.
        case bound
        case identifying
        case live
        /// The client cannot go on, or broke a rule that costs it a reset, which its owner decides.
        case clientFailed(deadline: UInt64)
        /// An error was sent, or UNBIND came. Nothing more is sent.
        case ended
    }

    enum Paging: Sendable, Equatable {
        /// The session has everything, as far as known.
        case none
        /// A page is due as soon as the socket has drained and the broker can be asked.
        case wanted(since: UInt64)
        case asked
    }

    let session: SessionIdent
    let context: SessionContext
    /// The rights of the session's user, as far as the gateway knows.
    var rights: SessionRights
    /// Nil in partition mode.
    var subscriptions: FlexibleSubscriptions?
    /// The partition that the client came from, as in `Judgement`.
    let home: String?
    var phase = Phase.binding
    var paging = Paging.none
    /// Another page is due after the one that is asked for, which does not cover everything.
    var mustAskAgain = false
    /// The session may be told what notices have brought before. Its position is one in the history of a partition and not in the base that the
    /// client began with; and it has missed no acknowledgement since its owner has last answered.
    var mayCatchUp = false

    var generation: UInt64 = 0
    var slice: SliceNumber?
    var clientFile: ClientFileIdent?
    var clientRecovery = true
    var queuedIdent: Ident?

    /// Where the session stands in the realm's history, whether the client was told already or not.
    var progress = SyncProgress()
    /// The cursors of the last DOWNLOAD.
    var sent: SyncProgress?
    /// When that was.
    var sentAt: UInt64 = 0
    /// The newest version heard of; beyond `progress` while a page is missing.
    var heardOf: ServerVersion = 0

    var marks = PendingMarks()

    var uploads = UploadPipeline()
    var waiting = WaitingMessages()
    /// The refusal of an upload that the client hears of once the MARKs before the upload are answered. What comes after that upload is not taken.
    var heldRefusal: RefusedAnswer?
    /// The rule that the client broke; what comes after it is not taken.
    var violation: SyncProtocolError?
    var isBindReported = false
    /// The client's copy is of another schema version: it uploads what it has, and begins anew.
    var isOutdated = false
    /// The app's schema versions as they were when the session began: what one is does not change.
    var schemas: SchemaVersions?
    /// The version of the app's schema by which the client's copy was made; nil: the schema as it is.
    var schemaVersion: SchemaVersion?

    /// The state of the gateway when the event at hand came, and the actions that the event leads to.
    var environment = SessionEnvironment(now: 0, isCongested: false, isLinkUp: true)
    var actions: [SessionAction] = []

    /// - Parameter roles: in flexible mode, what the user may do.
    init(
        session: SessionIdent, context: SessionContext, rights: SessionRights, roles: String? = nil, home: String? = nil
    ) {
        self.session = session
        self.home = home
        self.context = context
        self.rights = rights
        if context.realm.isFlexible { subscriptions = FlexibleSubscriptions(roles: roles ?? "") }
    }

    /// The gateway's number for the session.
    var number: UInt64 { context.reference.number }
    /// Bytes of uploads that no owner has acknowledged.
    var unacknowledgedBytes: Int { uploads.unacknowledgedBytes + waiting.bytes }
    var hasUnconfirmedUploads: Bool { uploads.hasUnconfirmed || waiting.hasUploads }
    var wantsPage: Bool { if case .wanted = paging { true } else { false } }

    mutating func handle(_ event: SessionEvent, _ environment: SessionEnvironment) -> [SessionAction] {
        self.environment = environment
        defer { actions = [] }
        handle(event)
        answerMarks()
        goOn()
        askForPage()
        return actions
    }

    private mutating func handle(_ event: SessionEvent) {
        switch event {
        case .bind(let needsIdent, let app, let replaced): bind(needsIdent, app, replacing: replaced)
        case .ident(let ident): identify(ident)
        case .upload(let upload, let bytes): take(.upload(upload, bytes: bytes))
        case .beyond(let quota, let limit, let seconds): take(.beyond(quota, limit: limit, seconds: seconds))
        case .mark(let request): take(.mark(request))
        case .query(let set): take(.query(set))
        case .clientFailed(let error): clientFailed(error)
        case .unbind(let answer): unbind(answer: answer, isOrderly: true)
        case .connectionLost: unbind(answer: false, isOrderly: false)
        case .violation(let error): take(.violation(error))
        case .bound(let answer): bound(answer)
        case .identified(let answer): identified(answer)
        case .confirm(let answer): confirm(answer.question)
        case .page(let answer): receive(answer)
        case .refused(let answer, let isAnswer): refused(answer, isAnswer: isAnswer)
        case .fanned(let notice): integrated(notice)
        case .recent(let stretch): recent(stretch)
        case .viewed(let notice): viewed(notice)
        case .stands(let latest): stands(at: latest)
        case .heardOf(let version): heard(of: version)
        case .reset(let notice): reset(notice)
        case .generation(let notice): generationTold(notice)
        case .requestFailed(let error): requestFailed(error)
        case .missed: missed()
        case .published(let number): uploads.confirmed(number)
        case .publishFailed(let number, let error): publishFailed(number, error)
        case .linkUp: linkUp()
        case .unsendable: unsendable()
        case .settings(let app): settingsChanged(app)
        case .recovery(let isAllowed): clientRecovery = isAllowed
        case .judged(let rights, let roles, let home): judged(rights, roles, home)
        case .drained: break
        case .tick: tick()
        }
    }

    private mutating func linkUp() {
        guard phase != .ended else { return }
        for pending in uploads.unconfirmed { actions.append(.publish(pending.message, number: pending.number)) }
        missed()
    }

    private mutating func tick() {
        waiting.tick(at: environment.now)
        if let due = uploads.takeHeld(before: environment.now, delay: context.limits.progressDelay), phase == .live {
            publish(due, bytes: 0)
        }
        if case .clientFailed(let deadline) = phase, environment.now > deadline {
            fail(.otherSessionError, .transient, "the client's failure could not be handled; it may try again")
        }
        if case .wanted(let since) = paging, environment.now > since &+ context.limits.linkPatience,
            !environment.isLinkUp
        {
            failForNow("the server's cluster is not reachable")
        }
    }
}
