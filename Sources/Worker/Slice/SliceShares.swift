import SyncModel

/// The shares of a slice that apps and realms have taken, by which it is decided whose turn it is.
///
/// In a batch, all messages go in their order, but a realm or an app that has taken its share leaves the rest of its messages for later
/// batches. What was taken is a debt, which is paid off by time: while
/// others have messages, each in debt gets a part of the slice's time. While others had messages lately and have none now, a small
/// debt is no reason to leave the slice idle: each batch is short then, so that the others find the slice busy for milliseconds at
/// most. A large debt, of one upload or commit that took long, is paid off by time then, too. Where nobody else had any messages
/// lately, debts are forgotten as they are met.
///
/// Counted is work and not time, in steps of merging (`MergeMeter`). The order of the messages of one realm stays.
struct SliceShares {
    /// An app or a realm that owes for what it has taken.
    private enum Debtor: Hashable {
        case app(String)
        case realm(RealmName)
    }

    /// The time for which a realm counts as having had messages lately, in milliseconds.
    private static let recentMilliseconds: UInt64 = 5_000
    /// The cost that one debtor may take of a slice while others had messages lately: a fifth or so of what a merge takes in that time.
    private static let stepsPerMillisecond: UInt64 = 60_000
    /// The debts, in shares, up to which one goes on while others have no messages; and the part of a share that it gets in a batch.
    private static let smallDebt: UInt64 = 4
    private static let shortBatch: UInt64 = 4
    /// Realms that are remembered as having had messages lately.
    private static let maximumRealms = 1_000

    private let appShare: UInt64
    private let realmShare: UInt64
    private let total: UInt64
    private var debts: [Debtor: UInt64] = [:]
    /// When messages of realms were last dealt with, by the uptime.
    private var servedAt: [RealmName: UInt64] = [:]
    private var turnedAt: UInt64?

    // The batch in hand: what all have taken together, and the realms and apps that leave messages for later batches.
    private var takenTogether: UInt64 = 0
    private var leftRealms: Set<RealmName> = []
    private var leftApps: Set<String> = []

    init(_ limits: WorkerLimits) {
        appShare = limits.mergeStepsPerApp
        realmShare = min(limits.mergeStepsPerRealm, limits.mergeStepsPerApp)
        total = limits.mergeStepsPerTurn
    }

    // MARK: Batches

    /// Begins a batch.
    ///
    /// - Parameters:
    ///   - waiting: the realms that messages are waiting for, and that wait for nothing else.
    ///   - hasOthers: whether there are messages about no realm.
    ///   - isCrowded: whether so many messages are waiting that no more are taken: to let some of them wait would hold up
    ///     everybody.
    ///   - uptime: in milliseconds.
    /// - Returns: false if nobody may go now.
    mutating func beginBatch(waiting: Set<RealmName>, hasOthers: Bool, isCrowded: Bool, at uptime: UInt64) -> Bool {
        (takenTogether, leftRealms, leftApps) = (0, [], [])
        let elapsed = uptime &- min(turnedAt ?? uptime, uptime)
        turnedAt = uptime
        servedAt = servedAt.filter { uptime &- min($0.value, uptime) < Self.recentMilliseconds }
        if !debts.isEmpty {
            // Before what is paid off now: else a backlog that is alone would be its own company, and go a message a batch.
            let isInCompany = servedAt.keys.contains(where: isFree) || waiting.contains(where: isFree)
            let (paid, overflows) = elapsed.multipliedReportingOverflow(by: Self.stepsPerMillisecond)
            pay(overflows ? .max : paid)
            if !isInCompany {
                pay(waiting.lazy.map(debt(of:)).min() ?? 0)
            } else if isCrowded {
                pay(waiting.lazy.map(excess(of:)).min() ?? 0)
            }
        }
        if hasOthers || waiting.contains(where: isFree) { return true }
        guard let least = waiting.lazy.map(excess(of:)).min(), least <= (Self.smallDebt - 1) * realmShare else {
            return false
        }
        pay(least + realmShare / Self.shortBatch)
        return true
    }

    /// Whether a message goes in this batch. Once one of a realm has to wait, all that come after it do.
    mutating func mayGo(_ realm: RealmName?, app: String?) -> Bool {
        guard let realm else {
            // About all of an app: behind what waits there.
            return app.map { !leftApps.contains($0) } ?? true
        }
        if takenTogether < total, !leftRealms.contains(realm), isFree(realm) { return true }
        leave(realm)
        return false
    }

    /// Leaves the rest of a realm's messages for later batches.
    mutating func leave(_ realm: RealmName) {
        leftRealms.insert(realm)
        leftApps.insert(realm.app)
    }

    /// Notes that a message was dealt with, and what it has taken.
    mutating func took(_ steps: UInt64, for realm: RealmName) {
        if servedAt.count < Self.maximumRealms || servedAt[realm] != nil { servedAt[realm] = turnedAt ?? 0 }
        guard steps > 0 else { return }
        debts[.app(realm.app), default: 0] &+= steps
        debts[.realm(realm), default: 0] &+= steps
        takenTogether &+= steps
    }

    /// Notes that the slice is the others' for some time.
    mutating func owes(milliseconds: UInt64, _ realm: RealmName) {
        let (steps, overflows) = milliseconds.multipliedReportingOverflow(by: Self.stepsPerMillisecond)
        for debtor in [Debtor.app(realm.app), .realm(realm)] {
            let (debt, isTooMuch) = debts[debtor, default: 0].addingReportingOverflow(overflows ? .max : steps)
            debts[debtor] = isTooMuch ? .max : debt
        }
    }

    // MARK: Debts

    private func isFree(_ realm: RealmName) -> Bool {
        debts[.app(realm.app), default: 0] < appShare && debts[.realm(realm), default: 0] < realmShare
    }

    private func debt(of realm: RealmName) -> UInt64 {
        max(debts[.app(realm.app), default: 0], debts[.realm(realm), default: 0])
    }

    /// The debt that has to be paid off until the realm is free.
    private func excess(of realm: RealmName) -> UInt64 {
        func beyond(_ debt: UInt64, _ share: UInt64) -> UInt64 { debt < share ? 0 : debt - share + 1 }
        return max(
            beyond(debts[.app(realm.app), default: 0], appShare), beyond(debts[.realm(realm), default: 0], realmShare))
    }

    private mutating func pay(_ steps: UInt64) {
        debts = debts.compactMapValues { $0 > steps ? $0 - steps : nil }
    }
}
