import Messages
import SyncModel
import SyncProtocol
import Views

/// The subscription sets of one session: the one in force, the one whose data is on its way, and the one that waits. Pure.
struct FlexibleSubscriptions: Sendable {
    /// The data of one set on its way.
    struct Bootstrap: Sendable {
        var set: QuerySet
        /// Where the pages so far have come; nil before the first.
        var position: BootstrapPosition?
        /// Entries that were sent.
        var sent = 0
        /// How much of it the client was told is there; what it is told never falls.
        var progress = 0.0
        /// The session has to come up to the latest version first.
        var isBehind = false
        /// A page was asked for and not answered yet: the owner may count on it already that the client has the set's data.
        var isAsked = false
    }

    /// What the session's user may do.
    let roles: String
    var active = QuerySet.empty {
        didSet { passedOver.removeAll { $0.version <= active.version } }
    }
    var bootstrap: Bootstrap?
    /// The newest that the client has asked for.
    private var waiting: QuerySet?
    /// Sets that gave way to newer ones before anything was sent of them, oldest first. If the newer ones are refused the client counts on these:
    /// a client asks for no set twice in a session.
    private var passedOver: [QuerySet] = []

    init(roles: String) { self.roles = roles }

    /// The client wants another set than those that it was sent anything of.
    var hasNewerWish: Bool { waiting != nil }
    var isWaiting: Bool { waiting != nil || bootstrap != nil }

    var identified: ViewDefinition {
        ViewDefinition(version: active.version.rawValue, queries: active.text, roles: roles)
    }

    var steadyState: FlexibleBatch {
        FlexibleBatch(queryVersion: active.version, state: .steadyState, progress: 1)
    }

    /// What a DOWNLOAD of the set in force is if its entries count only together; nil if it may be steady state, of which clients commit as much as
    /// they have time for, and keep that if they are stopped. An object that comes into the view, or leaves it, does so with the last entry,
    /// whatever the ones before have to say of others.
    func bootstrap(of entries: [HistoryEntry], protocolVersion: Int) -> FlexibleBatch? {
        // Before version 14, and for set 0, clients take no bootstrap of the set in force.
        guard protocolVersion >= 14, active.version > 0, entries.count > 1,
            entries.contains(where: { $0.originFile == .server })
        else { return nil }
        return FlexibleBatch(queryVersion: active.version, state: .lastInBatch, progress: 1)
    }

    /// The client wants another set in place of any that waits.
    ///
    /// - Returns: why the set is not asked for at all.
    mutating func ask(for set: QuerySet) -> String? {
        if let refusal = ViewLimits().refusal(ofBytes: set.text.utf8.count) { return refusal.message }
        if let waiting { passOver(waiting) }
        waiting = set
        return nil
    }

    /// The owner has refused the set whose data was to come; the one before it takes its place.
    mutating func refused() {
        bootstrap = nil
        if waiting == nil { waiting = passedOver.popLast() }
    }

    private mutating func passOver(_ set: QuerySet) {
        passedOver.append(set)
        // A client that changes its mind so often hears of the oldest ones in its next session.
        while passedOver.count > Self.mostPassedOver || passedOver.count > 1 && passedOverBytes > ViewLimits().bytes {
            passedOver.removeFirst()
        }
    }

    private var passedOverBytes: Int { passedOver.reduce(0) { $0 + $1.text.utf8.count } }
    private static let mostPassedOver = 16

    /// The client has to be sent the data of set 0, or of the set in force anew.
    mutating func mustBootstrap(_ version: QueryVersion) {
        bootstrap = Bootstrap(set: version == active.version ? active : QuerySet(version: version, text: "{}"))
    }

    /// The next page to ask for; nil if it is one of the set in force.
    mutating func nextRequest() -> BootstrapRequest? {
        if let waiting, bootstrap.map({ $0.sent == 0 && !$0.isAsked && $0.set.version > active.version }) ?? true {
            // A set of which nothing was sent need not be sent any more.
            if let before = bootstrap?.set { passOver(before) }
            bootstrap = Bootstrap(set: waiting)
            self.waiting = nil
        }
        guard let bootstrap, !bootstrap.isBehind else { return nil }
        self.bootstrap?.isAsked = true
        return BootstrapRequest(
            version: bootstrap.set.version.rawValue, queries: bootstrap.set.text, roles: roles,
            position: bootstrap.position)
    }

    /// The session stands at the latest version.
    mutating func cameUp() { bootstrap?.isBehind = false }
}

extension QuerySet {
    /// Set 0.
    static let empty = QuerySet(version: 0, text: "{}")
}
