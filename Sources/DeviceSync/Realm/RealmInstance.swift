internal import Changesets
internal import Foundation
internal import RealmState
internal import Synchronization

/// What a `Realm` is a handle of: a view of a core, or one version of it for ever, with the configuration that it was opened with.
final class RealmInstance: Sendable {
    let core: RealmCore
    let configuration: Realm.Configuration
    let session: SyncSession?
    /// What the place sees where the instance may be used; nil for a frozen one.
    let view: RealmView?
    private let snapshot: RealmSnapshot?
    /// The configuration's models by the names of their classes, once they were asked for.
    let knownModels = Mutex<[ByteString: ObjectBase.Type]?>(nil)

    /// - Parameters:
    ///   - snapshot: what a frozen instance shows.
    ///   - confinement: where a live instance belongs, which has the place's view; nil for one with a view of its own that may be used anywhere.
    init(
        core: RealmCore, configuration: Realm.Configuration, session: SyncSession?, snapshot: RealmSnapshot? = nil,
        confinement: Confinement? = nil
    ) {
        self.core = core
        view = snapshot == nil ? core.views.view(of: core, at: confinement) : nil
        self.configuration = configuration
        self.session = session
        self.snapshot = snapshot
        session?.retainInstance()
        if let snapshot, isCountingVersions { core.versions.retain(snapshot.version) }
    }

    deinit {
        session?.releaseInstance(of: core)
        if let snapshot, isCountingVersions { core.versions.release(snapshot.version) }
    }

    private var isCountingVersions: Bool { configuration.maximumNumberOfActiveVersions != nil }

    var isFrozen: Bool { view == nil }

    /// Whether both always show the same.
    func isSame(as other: RealmInstance) -> Bool {
        if self === other { return true }
        if let view { return view === other.view }
        return core === other.core && snapshot?.version == other.snapshot?.version
    }

    /// The view of a live instance, to be used here. A frozen one traps, as does another place.
    func usableView(_ what: String = "changed") -> RealmView {
        checkThread()
        guard let view else { preconditionFailure("a frozen realm cannot be \(what)") }
        return view
    }

    // MARK: Reading

    /// The contents at this instance's version; inside its transaction, with the changes made so far.
    func read<Result: Sendable>(_ body: (borrowing RealmState) throws -> Result) rethrows -> Result {
        if let view {
            checkThread()
            return try view.read(body)
        }
        let snapshot = snapshot ?? core.snapshot
        return try body(snapshot.state)
    }

    var schema: StoredSchema { read { $0.schema } }
    var reading: ValueReading { ValueReading(instance: self, schema: schema) }

    /// The newest commit that this instance sees.
    var current: RealmSnapshot {
        checkThread()
        return view?.current ?? snapshot ?? core.snapshot
    }

    /// What grows with each `Realm.invalidate()`.
    var generation: Int { view?.generation.load(ordering: .relaxed) ?? 0 }

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

    /// - Parameter isolation: the caller's actor, if it is known.
    func thawed(_ isolation: (any Actor)? = nil) -> RealmInstance {
        isFrozen ? here(isolation) : self
    }

    /// A live instance that belongs where the caller runs.
    func here(_ isolation: (any Actor)? = nil) -> RealmInstance {
        RealmInstance(
            core: core, configuration: configuration, session: session,
            confinement: isolation.map { Confinement($0) } ?? .here(with: core))
    }

    var autorefresh: Bool {
        get { view?.autorefresh ?? false }
        set { view?.autorefresh = newValue }
    }

    /// - Returns: whether there was something new.
    @discardableResult
    func refresh() -> Bool {
        checkThread()
        return view?.refresh() ?? false
    }

    // MARK: Writing

    var isInTransaction: Bool { view?.isInTransaction ?? false }

    /// Begins a transaction that `commit` or `cancel` ends.
    func begin() {
        let view = writableView()
        catchUp(view)
        core.lock.lockForLater()
        view.begin(isBlock: false)
        // A thread or task may be over before it ends its transaction, and must not keep others out for ever.
        if view.confinement?.place != nil { view.keeper.withLock { $0 = self } }
    }

    /// Runs `block` in a transaction; commits it if the block returns and has not ended it.
    func write<Result>(withoutNotifying tokens: [NotificationToken], _ block: () throws -> Result) throws -> Result {
        let view = writableView()
        catchUp(view)
        core.lock.lock()
        view.begin(isBlock: true)
        let result = try cancelling(block)
        if isInTransaction { try commit(withoutNotifying: tokens) }
        return result
    }

    /// Runs `block` in a transaction without blocking the caller's executor while it waits or writes.
    func write<Result>(
        isolation: isolated (any Actor)?, _ block: () throws -> Result
    ) async throws -> Result {
        let view = writableView()
        await core.lock.lockWithoutBlocking()
        view.begin(isBlock: true)
        view.asyncWrites.withLock { $0.commitBegins() }
        defer { view.asyncWrites.withLock { $0.commitEnds() } }
        let result = try core.lock.run({ try cancelling(block) }, isHeld: { isInTransaction })
        if isInTransaction {
            let changes = finish(showing: true)
            try await FileQueue.run { try self.store(changes) }
        }
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

    private func writableView() -> RealmView {
        let view = usableView("written")
        precondition(!configuration.readOnly, "the realm was opened read-only")
        // A block, of another thread or task, is waited for.
        precondition(!view.isInLastingTransaction, WriteLock.nestedMessage)
        return view
    }

    /// Tells the observers of the place what is new before a write goes on from there.
    private func catchUp(_ view: RealmView) {
        if view.standsStill { _ = view.refresh() }
    }

    /// What a transaction has made.
    struct Changes: Sendable {
        fileprivate var state: RealmState
        fileprivate var changeset: [UInt8]
    }

    /// Ends the transaction, whose changes are to be stored next.
    /// - Parameter showing: whether the place sees the changes until they are stored.
    func finish(showing: Bool) -> Changes {
        guard let view else { preconditionFailure("a frozen realm has no write transaction") }
        var transaction = view.end()
        var state = RealmState()
        let changeset = transaction.commit(returningTo: &state)
        if showing { view.show(state) }
        return Changes(state: state, changeset: changeset)
    }

    /// Stores what a transaction has made, and lets others write. On any thread.
    func store(_ changes: consuming Changes, withoutNotifying tokens: Set<ObjectIdentifier> = []) throws {
        defer {
            view?.stored(core.snapshot)
            core.lock.unlock()
            resumeObservers()
        }
        let changeset = changes.changeset
        // Moved, as two owners would make a copy of the first that changes it.
        var state = RealmState()
        swap(&state, &changes.state)
        guard !changeset.isEmpty || state.hasChanges else { return }
        try core.versions.checkRoom(beside: core.snapshot.version, for: configuration)
        try core.commitLocal(state, changeset: changeset, by: view, withoutNotifying: tokens)
        session?.localVersion()
    }

    func commit(withoutNotifying tokens: [NotificationToken] = []) throws {
        let tokens = Set(tokens.map { ObjectIdentifier($0) })
        defer { view?.letGo() }
        try store(finish(showing: false), withoutNotifying: tokens)
        // Observers of the realm itself hear at once where it is written, also of a commit that changes nothing.
        if let view, view.standsStill { core.observers.committed(by: view, view.current, except: tokens) }
    }

    /// Runs `block` in a transaction of a caller that holds the write lock, and commits it with a version of the schema.
    func migrate(to schemaVersion: UInt64, _ block: () throws -> Void) throws {
        guard let view else { preconditionFailure("a frozen realm cannot be migrated") }
        view.begin(isBlock: true)
        do {
            try block()
        } catch {
            if view.isInTransaction { _ = view.end() }
            throw error
        }
        precondition(view.isInTransaction, "a migration cannot end its write transaction")
        let changes = finish(showing: false)
        try core.commitLocal(changes.state, changeset: changes.changeset, schemaVersion: schemaVersion, by: view)
    }

    func cancel() {
        guard let view else { preconditionFailure("a frozen realm has no write transaction") }
        defer { view.letGo() }
        _ = view.end()
        view.moves.cancel()
        core.lock.unlock()
        resumeObservers()
    }

    /// Lets observers hear of what they could not be told during a transaction.
    private func resumeObservers() {
        if let view, view.standsStill { core.observers.resume(view) }
    }

    /// Changes something in the transaction. A value that does not fit traps.
    func edit(_ body: (inout RecordingTransaction) throws -> Void) { usableView().edit(body) }

    func convert(_ value: Any?, as element: ElementType) -> Value {
        ValueConversion.orTrap { try ValueConversion(schema: schema).value(value, as: element) }
    }
}
