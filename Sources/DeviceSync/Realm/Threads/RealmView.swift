internal import Changesets
internal import RealmState
import SyncModel
internal import Synchronization

/// What one thread, queue, actor or task sees of a realm: the version at which it stands, and its write transaction. All `Realm`s of a file that belong there share it.
///
/// Where code runs in turns, the view stands still within one: it keeps the version of the first read until the next turn after a commit, until
/// `refresh` or until a write begins. A thread without a queue has no turns: only the latter two move its view. Code in a task outside of any actor has turns that nobody
/// can tell apart: it sees the newest version at each read.
final class RealmView: Sendable {
    private struct Contents {
        var transaction: RecordingTransaction?
        /// Whether the transaction is a block, which ends by itself.
        var isBlock = false
        /// Grows with each change in a transaction, and with each transaction.
        var edition = 0
        /// Lists and sets that the transaction has found to link to no object that is missing.
        var whole: Set<FieldAddress> = []
        /// The version at which the view stands; nil if it begins with the newest at the next read.
        var standing: RealmSnapshot?
        /// Whether `standing` is what a commit under way is about to make.
        var isStoring = false
        var autorefresh = true
        /// The newest version at which the view stood; nil before it stood anywhere.
        var seen: ClientVersion?
        /// Whether the place has been sent a block that begins a turn.
        var isTurnDue = false

        mutating func stand(at snapshot: RealmSnapshot) {
            standing = snapshot
            seen = max(seen ?? 0, snapshot.version)
        }
    }

    /// What transactions here have done to places of embedded objects.
    let moves = EmbeddedMoves()
    /// What keeps the view while a transaction is open that a later call ends: an app may open its realm anew for each of the calls.
    let keeper = Mutex<RealmInstance?>(nil)

    /// Lets go of what has kept the view during a transaction.
    func letGo() {
        let kept = keeper.withLock { $0.take() }
        withExtendedLifetime(kept) {}
    }

    let core: RealmCore
    /// Where the view may be used; nil if nobody checks.
    let confinement: Confinement?
    /// Counts calls of `Realm.invalidate()`; objects of an earlier generation are invalid.
    let generation = Atomic(0)
    let asyncWrites = Mutex(AsyncWrites())
    /// Whether the view keeps its version while code runs at the place.
    let standsStill: Bool
    private let contents = Mutex(Contents())
    /// The newest version when the view was made.
    private let first: ClientVersion

    init(_ core: RealmCore, _ confinement: Confinement?) {
        self.core = core
        self.confinement = confinement
        standsStill = confinement?.isChecked ?? false
        first = core.snapshot.version
    }

    deinit {
        // A transaction that was never ended must not keep others out for ever.
        if isInTransaction { core.lock.unlock() }
        core.views.remove(self)
    }

    // MARK: Reading

    /// The contents at the view's version; inside its transaction, with the changes made so far.
    func read<Result: Sendable>(_ body: (borrowing RealmState) throws -> Result) rethrows -> Result {
        var standing: RealmSnapshot?
        let result = try contents.withLock { contents -> Result? in
            if contents.transaction == nil { standing = current(&contents) }
            return try contents.transaction.map { try body($0.state) }
        }
        if let result { return result }
        let snapshot = standing ?? core.snapshot
        return try withExtendedLifetime(snapshot) { try body(snapshot.state) }
    }

    /// The newest commit that the view sees.
    var current: RealmSnapshot { contents.withLock { current(&$0) } }

    private func current(_ contents: inout Contents) -> RealmSnapshot {
        if let standing = contents.standing { return standing }
        let newest = core.snapshot
        if standsStill { contents.stand(at: newest) }
        return newest
    }

    // MARK: Going on

    var autorefresh: Bool {
        get { contents.withLock { $0.autorefresh } }
        set {
            let newest = core.snapshot
            contents.withLock { contents in
                contents.autorefresh = newValue
                if standsStill {
                    if !newValue { _ = current(&contents) }
                } else {
                    contents.standing = newValue ? nil : newest
                }
            }
            guard newValue else { return }
            hear(of: newest)
            core.observers.resume(self)
        }
    }

    /// Goes to the newest version, and tells the observers at the place. To be called there.
    /// - Returns: whether there was something new.
    func refresh() -> Bool {
        let newest = core.snapshot
        let change = contents.withLock { contents -> (isNew: Bool, old: RealmSnapshot?)? in
            let old = contents.standing
            guard contents.transaction == nil, !contents.isStoring, standsStill || old != nil else { return nil }
            let isNew = old?.version ?? contents.seen ?? first < newest.version
            contents.stand(at: newest)
            return (isNew, old)
        }
        guard let change else { return false }
        if standsStill { core.observers.catchUp(self) }
        // The old version goes only here, outside of the lock: its connection goes back to the file.
        return withExtendedLifetime(change.old) { change.isNew }
    }

    /// Goes at least to a version, from which something comes that is to be found here.
    /// - Parameter snapshot: the version, to which a view goes exactly that does not stand anywhere yet; nil for one that has them go to the newest.
    func reach(_ version: ClientVersion, _ snapshot: RealmSnapshot?) {
        let isBehind = contents.withLock { contents in
            guard standsStill, contents.transaction == nil, !contents.isStoring else { return false }
            if let snapshot, contents.standing == nil, contents.seen ?? 0 <= version { contents.stand(at: snapshot) }
            return contents.standing.map { $0.version < version } ?? false
        }
        if isBehind { _ = refresh() }
    }

    /// Notes a new version, and lets the place begin a turn with it.
    func hear(of newest: RealmSnapshot) {
        guard standsStill, let place = confinement?.place else { return }
        let isDue = contents.withLock { contents in
            guard let standing = contents.standing, standing !== newest, contents.autorefresh, !contents.isTurnDue
            else { return false }
            contents.isTurnDue = true
            return true
        }
        if isDue { place.async { [weak self] in self?.turn() } }
    }

    private func turn() {
        let old = contents.withLock { contents -> RealmSnapshot? in
            contents.isTurnDue = false
            guard contents.autorefresh, contents.transaction == nil, !contents.isStoring else { return nil }
            contents.seen = core.snapshot.version
            return contents.standing.take()
        }
        withExtendedLifetime(old) {}
    }

    /// Goes to a version that observers at the place are to be told of, unless the view stands at a later one.
    /// - Parameter isForced: whether the view goes on although it does not refresh by itself.
    /// - Returns: false if the observers have to wait, for the end of a transaction or for `refresh`.
    func advance(to snapshot: RealmSnapshot, isForced: Bool) -> Bool {
        guard standsStill else { return true }
        return contents.withLock { contents in
            guard contents.transaction == nil, !contents.isStoring else { return false }
            if let standing = contents.standing, standing.version >= snapshot.version { return true }
            guard contents.autorefresh || isForced else { return false }
            contents.stand(at: snapshot)
            return true
        }
    }

    /// Whether all that is read until the place's next turn is of a version.
    func stands(at snapshot: RealmSnapshot) -> Bool {
        standsStill && contents.withLock { $0.transaction == nil && $0.standing?.version == snapshot.version }
    }

    // MARK: The transaction

    var isInTransaction: Bool { contents.withLock { $0.transaction != nil } }

    /// Whether the transaction is one that the caller would wait for without end.
    var isInLastingTransaction: Bool {
        guard contents.withLock({ $0.transaction != nil && !$0.isBlock }) else { return false }
        // Only what nobody checks can be used by somebody else meanwhile.
        return standsStill || !core.lock.isHeldByAnother()
    }

    /// Begins a transaction of a caller that holds the write lock.
    func begin(isBlock: Bool) {
        // The view may be the last to need an old version that keeps the file's log from beginning anew.
        let old = contents.withLock { $0.standing.take() }
        withExtendedLifetime(old) {}
        moves.begin()
        core.prepareToWrite()
        let snapshot = core.snapshot
        var state = snapshot.state
        // What is not synced is uploaded by nobody.
        let transaction = RecordingTransaction(taking: &state, isKept: core.isSynced)
        contents.withLock { contents in
            contents.transaction = transaction
            contents.isBlock = isBlock
            contents.edition += 1
            contents.whole = []
            if standsStill || !contents.autorefresh { contents.stand(at: snapshot) }
        }
    }

    /// What tells two moments of transactions apart between which something was changed; nil outside of a transaction.
    var edition: Int? { contents.withLock { $0.transaction == nil ? nil : $0.edition } }

    /// The number of lists and sets that a transaction remembers.
    private static let maxWhole = 1000

    /// Whether the transaction knows that a list or set links to no object that is missing.
    ///
    /// It stays so until the transaction ends: links to objects that are deleted go with them, and none can be made to what is missing.
    func isWhole(_ address: FieldAddress) -> Bool {
        contents.withLock { $0.transaction != nil && $0.whole.contains(address) }
    }

    func noteWhole(_ address: FieldAddress) {
        contents.withLock { contents in
            guard contents.transaction != nil else { return }
            if contents.whole.count >= Self.maxWhole { contents.whole = [] }
            contents.whole.insert(address)
        }
    }

    /// Changes something in the transaction. Without one this traps, and so does what `body` throws.
    func edit(_ body: (inout RecordingTransaction) throws -> Void) {
        contents.withLock { contents in
            guard var transaction = contents.transaction.take() else {
                preconditionFailure("a realm can be changed only in a write transaction")
            }
            contents.edition += 1
            do {
                try body(&transaction)
            } catch {
                preconditionFailure("\(error)")
            }
            contents.transaction = transaction
        }
    }

    /// Ends the transaction, whose changes are still to be stored or forgotten. Without one this traps.
    func end() -> RecordingTransaction {
        guard let transaction = contents.withLock({ $0.transaction.take() }) else {
            preconditionFailure("the realm is not in a write transaction")
        }
        return transaction
    }

    /// Shows what a transaction that has ended has made, until it is stored.
    func show(_ state: RealmState) {
        contents.withLock { contents in
            guard contents.standing != nil else { return }
            // No version that is ever stored: what is known of this one must not be taken for it if storing fails.
            contents.standing = RealmSnapshot(state: state, version: Self.provisionalVersion())
            contents.isStoring = true
        }
    }

    /// Counts down from versions that no realm ever reaches.
    private static let provisionalVersions = Atomic<UInt64>(.max)

    private static func provisionalVersion() -> ClientVersion {
        ClientVersion(provisionalVersions.wrappingSubtract(1, ordering: .relaxed).oldValue)
    }

    /// Goes to what the transaction has made, which is the newest version, or back to the one before it.
    func stored(_ newest: RealmSnapshot) {
        contents.withLock { contents in
            contents.isStoring = false
            if contents.standing != nil { contents.stand(at: newest) }
        }
    }
}
