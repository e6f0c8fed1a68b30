internal import Changesets
internal import Foundation
internal import RealmState
internal import Synchronization

/// What a `Realm` is a handle of: one view of a core, live or frozen.
final class RealmInstance: Sendable {
    private struct Contents {
        var transaction: RecordingTransaction?
        /// Whether the transaction is a block, which ends by itself.
        var isBlock = false
        /// Where a live instance stands that does not refresh by itself.
        var pinned: RealmSnapshot?
        var autorefresh = true
    }

    let core: RealmCore
    let configuration: Realm.Configuration
    let session: SyncSession?
    /// Where the instance may be used; nil for a frozen one, and for one that was opened in a task outside of any actor.
    let confinement: Confinement?
    /// Counts calls of `Realm.invalidate()`; objects of an earlier generation are invalid.
    let generation = Atomic(0)
    let asyncWrites = Mutex(AsyncWrites())
    private let snapshot: RealmSnapshot?
    private let contents = Mutex(Contents())

    init(
        core: RealmCore, configuration: Realm.Configuration, session: SyncSession?, snapshot: RealmSnapshot? = nil,
        confinement: Confinement? = nil
    ) {
        self.core = core
        self.confinement = confinement
        self.configuration = configuration
        self.session = session
        self.snapshot = snapshot
        session?.retainInstance()
        if let snapshot, isCountingVersions { core.versions.retain(snapshot.version) }
    }

    deinit {
        // A transaction that was never ended must not keep others out for ever.
        if contents.withLock({ $0.transaction != nil }) { core.lock.unlock() }
        session?.releaseInstance(of: core)
        if let snapshot, isCountingVersions { core.versions.release(snapshot.version) }
    }

    private var isCountingVersions: Bool { configuration.maximumNumberOfActiveVersions != nil }

    var isFrozen: Bool { snapshot != nil }

    // MARK: Reading

    /// The contents at this instance's version; inside its transaction, with the changes made so far.
    func read<Result: Sendable>(_ body: (borrowing RealmState) throws -> Result) rethrows -> Result {
        if let snapshot { return try body(snapshot.state) }
        checkThread()
        var pinned: RealmSnapshot?
        let result = try contents.withLock { contents -> Result? in
            pinned = contents.pinned
            return try contents.transaction.map { try body($0.state) }
        }
        if let result { return result }
        let snapshot = pinned ?? core.snapshot
        return try withExtendedLifetime(snapshot) { try body(snapshot.state) }
    }

    var schema: Schema { read { $0.schema } }
    var reading: ValueReading { ValueReading(instance: self, schema: schema) }

    /// The newest commit that this instance sees.
    var current: RealmSnapshot {
        checkThread()
        return snapshot ?? contents.withLock { $0.pinned } ?? core.snapshot
    }

    /// The handle of an object that exists.
    func object(_ address: ObjectAddress) -> DynamicObject? {
        contains(address) ? ObjectHandle(self, address).dynamic : nil
    }

    func frozen() -> RealmInstance {
        if isFrozen { return self }
        precondition(!isInTransaction, "cannot freeze inside a write transaction")
        return at(current)
    }

    /// A frozen instance that shows one version.
    func at(_ snapshot: RealmSnapshot) -> RealmInstance {
        isFrozen ? self : RealmInstance(core: core, configuration: configuration, session: session, snapshot: snapshot)
    }

    func thawed() -> RealmInstance {
        isFrozen
            ? RealmInstance(core: core, configuration: configuration, session: session, confinement: .here()) : self
    }

    var autorefresh: Bool {
        get { contents.withLock { $0.autorefresh } }
        set {
            let newest = core.snapshot
            contents.withLock {
                $0.autorefresh = newValue
                $0.pinned = newValue ? nil : newest
            }
        }
    }

    /// - Returns: whether there was something new.
    @discardableResult
    func refresh() -> Bool {
        checkThread()
        let newest = core.snapshot
        return contents.withLock { contents in
            guard let pinned = contents.pinned, pinned.version < newest.version else { return false }
            contents.pinned = newest
            return true
        }
    }

    // MARK: Writing

    var isInTransaction: Bool { contents.withLock { $0.transaction != nil } }

    /// Begins a transaction that `commit` or `cancel` ends.
    func begin() {
        checkWritable()
        core.lock.lockForLater()
        begin(isBlock: false)
    }

    /// Runs `block` in a transaction; commits it if the block returns and has not ended it.
    func write<Result>(withoutNotifying tokens: [NotificationToken], _ block: () throws -> Result) throws -> Result {
        checkWritable()
        core.lock.lock()
        begin(isBlock: true)
        let result = try cancelling(block)
        if isInTransaction { try commit(withoutNotifying: tokens) }
        return result
    }

    /// Runs `block` in a transaction without blocking the caller's executor while it waits or writes.
    func write<Result>(
        isolation: isolated (any Actor)?, _ block: () throws -> Result
    ) async throws -> Result {
        checkWritable()
        await core.lock.lockWithoutBlocking()
        begin(isBlock: true)
        let result = try core.lock.run({ try cancelling(block) }, isHeld: { isInTransaction })
        if isInTransaction { try await FileQueue.run { try self.commit() } }
        return result
    }

    private func cancelling<Result>(_ block: () throws -> Result) rethrows -> Result {
        do {
            return try block()
        } catch {
            if isInTransaction { cancel() }
            throw error
        }
    }

    private func checkWritable() {
        checkThread()
        precondition(!isFrozen, "a frozen realm cannot be written")
        precondition(!configuration.readOnly, "the realm was opened read-only")
        // A block, of another thread or task, is waited for.
        precondition(
            contents.withLock { $0.transaction == nil || $0.isBlock }, "the realm is already in a write transaction")
    }

    /// Lets another write of this instance wait for the end of the transaction.
    func endsByItself() { contents.withLock { $0.isBlock = true } }

    /// Begins a transaction of a caller that holds the write lock.
    func begin(isBlock: Bool) {
        core.prepareToWrite()
        let snapshot = core.snapshot
        var state = snapshot.state
        // What is not synced is uploaded by nobody.
        let transaction = RecordingTransaction(taking: &state, isKept: core.isSynced)
        contents.withLock {
            $0.transaction = transaction
            $0.isBlock = isBlock
            if $0.pinned != nil { $0.pinned = snapshot }
        }
    }

    func commit(withoutNotifying tokens: [NotificationToken] = []) throws {
        guard var transaction = contents.withLock({ $0.transaction.take() }) else {
            preconditionFailure("the realm is not in a write transaction")
        }
        defer { core.lock.unlock() }
        var state = RealmState()
        let changeset = transaction.commit(returningTo: &state)
        guard !changeset.isEmpty || state.hasChanges else { return }
        try core.versions.checkRoom(beside: core.snapshot.version, for: configuration)
        try core.commitLocal(
            state, changeset: changeset, withoutNotifying: Set(tokens.map { ObjectIdentifier($0) }))
        contents.withLock { if $0.pinned != nil { $0.pinned = core.snapshot } }
        session?.localVersion()
    }

    /// Runs `block` in a transaction of a caller that holds the write lock, and commits it with a version of the schema.
    func migrate(to schemaVersion: UInt64, _ block: () throws -> Void) throws {
        begin(isBlock: true)
        do {
            try block()
        } catch {
            contents.withLock { $0.transaction = nil }
            throw error
        }
        guard var transaction = contents.withLock({ $0.transaction.take() }) else {
            preconditionFailure("a migration cannot end its write transaction")
        }
        var state = RealmState()
        let changeset = transaction.commit(returningTo: &state)
        try core.commitLocal(state, changeset: changeset, schemaVersion: schemaVersion)
    }

    func cancel() {
        guard contents.withLock({ $0.transaction.take() }) != nil else {
            preconditionFailure("the realm is not in a write transaction")
        }
        core.lock.unlock()
    }

    /// Changes something in the transaction. A value that does not fit traps.
    func edit(_ body: (inout RecordingTransaction) throws -> Void) {
        checkThread()
        contents.withLock { contents in
            guard var transaction = contents.transaction.take() else {
                preconditionFailure("a realm can be changed only in a write transaction")
            }
            do {
                try body(&transaction)
            } catch {
                preconditionFailure("\(error)")
            }
            contents.transaction = transaction
        }
    }

    func convert(_ value: Any?, as element: ElementType) -> Value {
        ValueConversion.orTrap { try ValueConversion(schema: schema).value(value, as: element) }
    }
}
