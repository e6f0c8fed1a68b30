import SyncModel
internal import SyncProtocol

/// The subscription sets of a flexible realm: the one in force, those after it that the server has still to answer, and none
/// that another one has superseded (docs/protocol.md, "Flexible sync"). Pure.
struct SubscriptionSets: Sendable, Equatable {
    /// The sets by ascending version; never empty. A new file has set 0, which is empty and is to be bootstrapped like any other.
    private(set) var sets: [SubscriptionSet]

    init() { sets = [SubscriptionSet(version: 0, snapshot: 0, subscriptions: [])] }

    /// - Parameter stored: by ascending version; none for a new file.
    init(stored: [SubscriptionSet]) {
        self.init()
        if !stored.isEmpty { sets = stored }
    }

    // MARK: Which is which

    /// What the app asked for last.
    var latest: SubscriptionSet { sets[sets.count - 1] }

    subscript(version: QueryVersion) -> SubscriptionSet? { sets.first { $0.version == version } }

    /// The set whose data the realm has; nil before the first bootstrap.
    var active: SubscriptionSet? { sets.last { $0.state == .complete || $0.state == .awaitingMark } }

    /// What IDENT says: version 0 and no query before the first bootstrap.
    var activeQuerySet: QuerySet { active?.querySet ?? QuerySet(version: 0, queries: [:]) }

    /// The first set after a version that the server is to be asked for. Set 0 comes unasked.
    func pending(after version: QueryVersion) -> SubscriptionSet? {
        sets.first { $0.version > version && $0.state == .pending }
    }

    // MARK: What happens to them

    /// The app's new subscriptions.
    mutating func append(_ subscriptions: [Subscription], snapshot: ClientVersion) -> QueryVersion {
        let version = QueryVersion(latest.version.rawValue + 1)
        sets.append(SubscriptionSet(version: version, snapshot: snapshot, subscriptions: subscriptions))
        return version
    }

    /// How many sets there may be before those go that say nothing.
    static let room = 8

    /// Forgets sets that the server was not asked for and under which nothing was written, so that an app which changes its subscriptions for
    /// days without a connection keeps no more of them than of its writes.
    ///
    /// - Parameter asked: the newest set that the server was asked for.
    mutating func forgetSuperseded(after asked: QueryVersion) {
        var kept: [SubscriptionSet] = []
        for set in sets.reversed() {
            let isSuperseded =
                set.version > asked && set.state == .pending && kept.last?.state == .pending
                && kept.last?.snapshot == set.snapshot
            if !isSuperseded { kept.append(set) }
        }
        sets = kept.reversed()
    }

    /// Whether the server may send the data of a set: one that waits for it, or the set in force once more.
    func awaitsBootstrap(of version: QueryVersion) -> Bool {
        self[version]?.state == .pending || active?.version == version
    }

    /// The data of a set is in the realm. Older sets are superseded.
    mutating func bootstrapped(_ version: QueryVersion) {
        guard let index = sets.firstIndex(where: { $0.version == version && $0.state == .pending }) else { return }
        sets[index].state = .awaitingMark
        sets.removeFirst(index)
    }

    /// Everything that the server had when it was asked is in the realm. A server that had nothing to say about set 0 leaves it
    /// at that.
    mutating func markReached() {
        let index = sets.firstIndex { $0.state == .awaitingMark }
        if let index = index ?? sets.firstIndex(where: { $0.version == 0 && $0.state == .pending }) {
            sets[index].state = .complete
        }
    }

    /// The server refuses a set.
    mutating func refused(_ version: QueryVersion, _ reason: String) {
        guard let index = sets.firstIndex(where: { $0.version == version && $0.state == .pending }) else { return }
        sets[index].state = .error
        sets[index].reason = reason
    }

    // MARK: Client resets (docs/resets.md, "Subscriptions")

    /// A client reset has brought the data of the set in force. What was pending stays so, unless the reset discards.
    mutating func reset(discarding: Bool) {
        let index = sets.lastIndex { $0.state == .complete || $0.state == .awaitingMark } ?? 0
        sets[index].state = .complete
        sets.removeFirst(index)
        if discarding { sets.removeLast(sets.count - 1) }
    }

    /// The realm begins anew at the server: nothing is in force.
    mutating func startOver() {
        // Set 0 comes first again. Of the others, the newest says what the app wants.
        let latest = latest
        self = SubscriptionSets()
        guard latest.version > 0 else { return }
        sets.append(
            SubscriptionSet(version: latest.version, snapshot: latest.snapshot, subscriptions: latest.subscriptions))
    }

    /// What a copy of the realm for another client file starts with.
    var copied: SubscriptionSets {
        guard var active else { return SubscriptionSets() }
        active.state = .complete
        active.snapshot = 0
        return SubscriptionSets(stored: [active])
    }
}

extension SubscriptionSets {
    /// What has become of a set, for those who wait for it.
    enum Outcome: Sendable, Equatable {
        case pending, complete, superseded
        case refused(String)
    }

    func outcome(of version: QueryVersion) -> Outcome {
        guard let set = self[version] else { return .superseded }
        return switch set.state {
        case .pending, .awaitingMark: .pending
        case .complete: .complete
        case .error: .refused(set.reason ?? "")
        }
    }
}
