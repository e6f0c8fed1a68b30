import SyncModel

/// What apps and realms have taken of a slice, and whose turn it is: deficit round robin over apps, and over realms in them.
///
/// A turn is what an owner goes through between two commits. In it, all messages go in their order, but a realm or an app
/// whose merges have taken their share leaves the rest of its messages for later turns: everybody else's come first. What it
/// has taken beyond its share is its debt, of which each turn of the others pays one share. Where only those in debt have
/// messages waiting, they go on at once; but if others had any lately, no faster than at a part of the slice's speed, so
/// that the others do not mostly find the slice busy.
///
/// Counted are steps of merging (`MergeMeter`), which are what a client can make dear. Who only waits forgets nothing: the order
/// of the messages of one realm stays.
struct SliceShares {
    /// Who owes.
    private enum Debtor: Hashable {
        case app(String)
        case realm(RealmName)
    }

    /// Who counts as having had messages lately.
    private static let recentMilliseconds: UInt64 = 5_000
    /// What those in debt may take of a slice while others had messages lately: a fifth or so of what a merge takes in that time.
    private static let stepsPerMillisecond: UInt64 = 60_000
    /// Realms that are remembered as having had messages lately.
    private static let maximumRealms = 1_000

    private let appShare: UInt64
    private let realmShare: UInt64
    private let total: UInt64
    private var debts: [Debtor: UInt64] = [:]
    /// When messages of realms were last dealt with, by the uptime.
    private var servedAt: [RealmName: UInt64] = [:]
    private var turnedAt: UInt64?

    // Of the turn in hand.
    private var taken: [Debtor: UInt64] = [:]
    private var takenTogether: UInt64 = 0
    private var leftRealms: Set<RealmName> = []
    private var leftApps: Set<String> = []

    init(_ limits: WorkerLimits) {
        appShare = limits.mergeStepsPerApp
        realmShare = min(limits.mergeStepsPerRealm, limits.mergeStepsPerApp)
        total = limits.mergeStepsPerTurn
    }

    // MARK: Turns

    /// Begins a turn.
    ///
    /// - Parameters:
    ///   - waiting: the realms that messages are waiting for.
    ///   - hasOthers: whether there are messages about no realm.
    ///   - uptime: in milliseconds.
    /// - Returns: false if nobody may go now.
    mutating func beginTurn(waiting: Set<RealmName>, hasOthers: Bool, at uptime: UInt64) -> Bool {
        (taken, takenTogether, leftRealms, leftApps) = ([:], 0, [], [])
        let elapsed = uptime &- min(turnedAt ?? uptime, uptime)
        turnedAt = uptime
        servedAt = servedAt.filter { uptime &- min($0.value, uptime) < Self.recentMilliseconds }
        guard !debts.isEmpty else { return true }
        if hasOthers || waiting.contains(where: { debt(of: $0) == 0 }) {
            pay(appShare)
            return true
        }
        if servedAt.keys.contains(where: { debt(of: $0) == 0 }) {
            pay(elapsed.multipliedReportingOverflow(by: Self.stepsPerMillisecond).partialValue)
        } else {
            pay(waiting.lazy.map(debt).min() ?? 0)
        }
        return waiting.contains { debt(of: $0) == 0 }
    }

    /// Whether a message of the realm may go at all in this turn.
    func isFree(_ realm: RealmName?) -> Bool { realm.map { debt(of: $0) == 0 } ?? true }

    /// Whether a message goes in this turn. Once one of a realm has to wait, all that come after it do.
    mutating func mayGo(_ realm: RealmName?, app: String?) -> Bool {
        guard let realm else {
            // About all of an app: behind what waits there.
            return app.map { !leftApps.contains($0) } ?? true
        }
        if takenTogether < total, debt(of: realm) == 0, !leftRealms.contains(realm),
            taken[.app(realm.app), default: 0] < appShare, taken[.realm(realm), default: 0] < realmShare
        {
            return true
        }
        leftRealms.insert(realm)
        leftApps.insert(realm.app)
        return false
    }

    /// Notes that a message was dealt with, and what its merges have taken.
    mutating func took(_ steps: UInt64, for realm: RealmName) {
        if servedAt.count < Self.maximumRealms || servedAt[realm] != nil { servedAt[realm] = turnedAt ?? 0 }
        guard steps > 0 else { return }
        taken[.app(realm.app), default: 0] &+= steps
        taken[.realm(realm), default: 0] &+= steps
        takenTogether &+= steps
    }

    /// What was taken beyond the shares is to be made up for.
    mutating func endTurn() {
        for (debtor, steps) in taken {
            let share =
                switch debtor {
                case .app: appShare
                case .realm: realmShare
                }
            if steps > share { debts[debtor, default: 0] &+= steps - share }
        }
        taken = [:]
    }

    // MARK: Debts

    private func debt(of realm: RealmName) -> UInt64 {
        max(debts[.app(realm.app), default: 0], debts[.realm(realm), default: 0])
    }

    private mutating func pay(_ steps: UInt64) {
        debts = debts.compactMapValues { $0 > steps ? $0 - steps : nil }
    }
}
