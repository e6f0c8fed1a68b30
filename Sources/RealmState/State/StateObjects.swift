import Changesets
import HashTreeCollections
import Synchronization

/// The objects of one class. A persistent map: a copy shares with its original all but what is changed in it, so that a
/// writer beside readers that hold on to older states pays for what it touches, not for the size of the class.
typealias ObjectRows = TreeDictionary<ObjectKey, CachedObject>

/// The objects of a state: what the state holds itself covers what its base has. Classes are numbers here.
///
/// A savepoint costs what is touched after it. The first change of an object keeps its old values, which the state no longer
/// shares, so that later changes of the object are in place again.
struct StateObjects: Sendable {
    let residency: RealmState.Residency
    /// Where the objects are that the state does not hold itself; nil if it holds all that it knows of.
    let base: (any StateBase)?

    /// What the state itself knows of objects.
    private var rows: [TableID: ObjectRows] = [:]
    /// How many objects more than in the base there are of each class.
    private var countsBeyondBase: [TableID: Int] = [:]
    /// States with the same number have the same objects, whatever these hold; for states that know of every object.
    private(set) var membership = Self.nextMembership()
    /// Tables of which every object is known although the residency is partial: those created since.
    private var completeTables: Set<TableID> = []
    private var clock: UInt64 = 0
    /// How many objects are held, or are known not to exist.
    private(set) var heldCount = 0

    private var erasedTables: [TableID] = []
    private var changes = ObjectChanges()
    /// The open savepoints, the innermost one last.
    private var savepoints: [Savepoint] = []
    private var lastSavepoint: UInt64 = 0

    init(residency: RealmState.Residency, base: (any StateBase)?) {
        self.residency = residency
        self.base = base
    }

    private static let lastMembership = Atomic<UInt64>(0)
    private static func nextMembership() -> UInt64 { lastMembership.add(1, ordering: .relaxed).newValue }

    /// The same objects where none is held: on a base that has everything.
    func standing(on base: any StateBase) -> StateObjects {
        var objects = StateObjects(residency: residency, base: base)
        objects.membership = membership
        return objects
    }

    // MARK: Reading

    subscript(reference: ObjectReference) -> StoredObject? {
        if let row = rows[reference.table]?[reference.key] { return row.object }
        return base?.object(reference.key, of: reference.table)
    }

    /// Whether it is known what the object holds or that it does not exist.
    func isLoaded(_ reference: ObjectReference) -> Bool {
        residency != .partial || completeTables.contains(reference.table)
            || rows[reference.table]?[reference.key] != nil
    }

    /// What the state itself holds of a class.
    func held(of table: TableID) -> ObjectRows { rows[table] ?? [:] }

    func cursor(of table: TableID) -> ObjectCursor { ObjectCursor(table, rows: held(of: table), base: base) }

    func keys(of table: TableID, after key: ObjectKey?) -> KeyCursor {
        KeyCursor(table, rows: held(of: table), base: base, after: key)
    }

    func count(of table: TableID) -> Int {
        if let base { return base.count(of: table) + (countsBeyondBase[table] ?? 0) }
        guard let rows = rows[table] else { return 0 }
        return residency == .complete ? rows.count : rows.count { $0.value.object != nil }
    }

    /// Visits the objects that the state itself knows of, or knows not to exist: on a base, what has changed since.
    func forEachKnownKey(_ body: (TableID, ObjectKey) -> Void) {
        for (table, objects) in rows {
            for key in objects.keys { body(table, key) }
        }
    }

    func isPresent(_ reference: ObjectReference) throws(RealmStateError) -> Bool {
        if let row = rows[reference.table]?[reference.key] { return row.object != nil }
        return try isPresentBeyondRows(reference)
    }

    /// Returns whether there is an object that the state itself knows nothing of.
    private func isPresentBeyondRows(_ reference: ObjectReference) throws(RealmStateError) -> Bool {
        if let base { return base.object(reference.key, of: reference.table) != nil }
        guard residency == .complete || completeTables.contains(reference.table) else {
            throw RealmStateError(.notLoaded, "the object was not loaded before it was touched")
        }
        return false
    }

    // MARK: Loading and forgetting

    /// Takes over an object that a store holds, nil for one that the store lacks. What is already known stays.
    /// - Returns: whether it was taken over.
    mutating func load(_ object: StoredObject?, _ reference: ObjectReference) -> Bool {
        clock &+= 1
        guard rows[reference.table]?[reference.key] == nil, object != nil || residency == .partial else { return false }
        rows[reference.table, default: [:]][reference.key] = CachedObject(object: object, lastUse: clock)
        heldCount += 1
        return true
    }

    /// Forgets the objects that have not been used for longest, until `limit` are left, if more are held.
    ///
    /// Only a partial state may forget; objects whose changes have not been taken stay. Forgets an eighth more than
    /// asked for, so that the search is not repeated for every object.
    mutating func trim(to limit: Int) {
        guard residency == .partial, !hasSavepoint, heldCount > max(0, limit) else { return }
        var candidates: [(lastUse: UInt64, reference: ObjectReference)] = []
        for (table, objects) in rows {
            let changed = changes[table]
            for (key, row) in objects where changed[key] == nil {
                candidates.append((row.lastUse, ObjectReference(table: table, key: key)))
            }
        }
        candidates.sort { $0.lastUse < $1.lastUse }
        let excess = heldCount - max(0, limit) + max(0, limit) / 8
        for candidate in candidates.prefix(excess) {
            rows[candidate.reference.table]?[candidate.reference.key] = nil
            completeTables.remove(candidate.reference.table)
            heldCount -= 1
        }
    }

    // MARK: Changing

    /// Makes an object, if there is none.
    ///
    /// - Returns: whether there was none.
    mutating func create(_ reference: ObjectReference, as new: StoredObject) throws(RealmStateError) -> Bool {
        guard let row = rows[reference.table]?[reference.key] else {
            guard try !isPresentBeyondRows(reference) else { return false }
            insert(new, reference)
            return true
        }
        guard row.object == nil else { return false }
        store(new, reference, existed: false)
        return true
    }

    /// Replaces what is known of an object.
    ///
    /// - Parameter existed: whether there was one, if that is known.
    mutating func store(_ object: StoredObject?, _ reference: ObjectReference, existed: Bool? = nil) {
        let isKnown = rows[reference.table]?[reference.key] != nil
        let existed = existed ?? (self[reference] != nil)
        if let object, !isKnown, !existed { return insert(object, reference) }
        save(reference)
        clock &+= 1
        if existed != (object != nil) { noteMembership(of: reference.table, more: object == nil ? -1 : 1) }
        // What the base has must stay covered.
        if object == nil, residency == .complete, base == nil {
            if isKnown { heldCount -= 1 }
            rows[reference.table]?[reference.key] = nil
            return
        }
        if !isKnown { heldCount += 1 }
        rows[reference.table, default: [:]][reference.key] = CachedObject(
            object: object, lastUse: clock, savedIn: savepoints.last?.number ?? 0)
    }

    /// Takes an object in of which nothing was known: neither the state nor its base has one.
    private mutating func insert(_ object: StoredObject, _ reference: ObjectReference) {
        let previousChange = changes.mark(reference, as: base == nil ? .changed : .new)
        if hasSavepoint {
            savepoints[savepoints.count - 1].journal.append(
                .object(reference, previous: nil, previousChange: previousChange))
        }
        noteMembership(of: reference.table, more: 1)
        clock &+= 1
        heldCount += 1
        rows[reference.table, default: [:]][reference.key] = CachedObject(
            object: object, lastUse: clock, savedIn: savepoints.last?.number ?? 0)
    }

    /// Saves an object for the open savepoint, marks it as changed, and takes it over from the base, so that it can be edited in place.
    mutating func prepareToEdit(_ reference: ObjectReference) {
        // In this order: going back gives up what was taken over.
        save(reference)
        guard let base, rows[reference.table]?[reference.key] == nil,
            let object = base.object(reference.key, of: reference.table)
        else { return }
        clock &+= 1
        rows[reference.table, default: [:]][reference.key] = CachedObject(
            object: object, lastUse: clock, savedIn: savepoints.last?.number ?? 0)
        heldCount += 1
    }

    /// Edits an object that was prepared for that.
    mutating func edit(
        _ reference: ObjectReference, _ body: (inout StoredObject) throws(RealmStateError) -> Void
    ) throws(RealmStateError) {
        clock &+= 1
        try rows[reference.table]?[reference.key]?.edit(use: clock, body)
    }

    /// Notes that a class is new: all of its objects are known.
    mutating func addTable(_ table: TableID) {
        if residency == .partial { completeTables.insert(table) }
    }

    /// Forgets a class's objects, but for the open savepoint.
    mutating func eraseTable(_ table: TableID) {
        let dropped = rows.removeValue(forKey: table) ?? [:]
        let changed = changes.remove(table)
        heldCount -= dropped.count
        countsBeyondBase[table] = nil
        if residency == .complete { membership = Self.nextMembership() }
        erasedTables.append(table)
        if hasSavepoint {
            savepoints[savepoints.count - 1].journal.append(.table(table, rows: dropped, changed: changed))
        }
        completeTables.remove(table)
    }

    /// A class has one object more or less, for states that know of every object.
    private mutating func noteMembership(of table: TableID, more: Int) {
        guard residency == .complete else { return }
        membership = Self.nextMembership()
        if base != nil { countsBeyondBase[table, default: 0] += more }
    }

    // MARK: What has changed

    var hasChanges: Bool { !erasedTables.isEmpty || !changes.isEmpty }

    /// What has changed since the last call.
    mutating func takeChanges(_ schema: Schema) -> StateChanges {
        var taken = StateChanges()
        taken.erasedTables = erasedTables
        changes.list(schema, rows, in: &taken)
        erasedTables = []
        changes = ObjectChanges()
        return taken
    }

    // MARK: Savepoints

    /// What brings the objects back to where they were at one moment.
    private struct Savepoint {
        enum UndoEntry {
            /// `previous` is nil if nothing was known of the object.
            case object(ObjectReference, previous: CachedObject?, previousChange: ObjectChange?)
            /// The rows of a table that was erased.
            case table(TableID, rows: ObjectRows, changed: [ObjectKey: ObjectChange])
        }

        let number: UInt64
        let erasedTables: [TableID]
        let completeTables: Set<TableID>
        let countsBeyondBase: [TableID: Int]
        var journal: [UndoEntry] = []
    }

    var hasSavepoint: Bool { !savepoints.isEmpty }

    mutating func begin() {
        lastSavepoint += 1
        savepoints.append(
            Savepoint(
                number: lastSavepoint, erasedTables: erasedTables, completeTables: completeTables,
                countsBeyondBase: countsBeyondBase))
    }

    mutating func commit() {
        guard let savepoint = savepoints.popLast(), hasSavepoint else { return }
        savepoints[savepoints.count - 1].journal += savepoint.journal
    }

    /// - Parameter added: the classes that were made since.
    mutating func rollback(forgetting added: [TableID]) {
        guard let savepoint = savepoints.popLast() else { return }
        for entry in savepoint.journal.reversed() {
            switch entry {
            case .object(let reference, let previous, let previousChange):
                let current = rows[reference.table, default: [:]].removeValue(forKey: reference.key)
                rows[reference.table]?[reference.key] = previous
                heldCount += (previous == nil ? 0 : 1) - (current == nil ? 0 : 1)
                changes.restore(previousChange, of: reference)
            case .table(let table, let saved, let changed):
                rows[table] = saved
                changes[table] = changed
                heldCount += saved.count
            }
        }
        for table in added {
            heldCount -= rows.removeValue(forKey: table)?.count ?? 0
            _ = changes.remove(table)
        }
        erasedTables = savepoint.erasedTables
        completeTables = savepoint.completeTables
        countsBeyondBase = savepoint.countsBeyondBase
        if residency == .complete { membership = Self.nextMembership() }
    }

    /// Marks an object as changed, and keeps what it was for the open savepoint. To be called before it changes.
    private mutating func save(_ reference: ObjectReference) {
        let previousChange = changes.mark(reference, as: .changed)
        guard let savepoint = savepoints.last?.number else { return }
        let previous = rows[reference.table]?[reference.key]
        if let previous, previous.savedIn == savepoint { return }
        savepoints[savepoints.count - 1].journal.append(
            .object(reference, previous: previous, previousChange: previousChange))
        if previous != nil { rows[reference.table]?[reference.key]?.savedIn = savepoint }
    }
}

extension CachedObject {
    fileprivate mutating func edit(
        use: UInt64, _ body: (inout StoredObject) throws(RealmStateError) -> Void
    ) throws(RealmStateError) {
        lastUse = use
        guard var edited = object else { return }
        // Held once, so that it is changed in place.
        object = nil
        defer { object = edited }
        try body(&edited)
    }
}
