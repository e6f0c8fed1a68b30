package import Changesets
import HashTreeCollections

/// A realm's schema and objects, or as many of its objects as the caller has loaded.
///
/// A value: its owner applies changesets and then writes `takeChanges()` to a store. Either all objects are in memory, or the state stands on
/// a base that reads them when they are asked for, and holds only those that have changed since.
/// Links are stored as class and key, so a link to an object that does not exist needs no bookkeeping.
package struct RealmState: Sendable {
    package enum Residency: Sendable, Hashable {
        /// Every object is here or in the base; what is not does not exist.
        case complete
        /// Only what was loaded is here; touching anything else is an error.
        case partial
    }

    /// How changes are recorded and applied where the reference engine is at fault (docs/merge.md, "Where we differ").
    package var compatibility: PeerCompatibility
    package private(set) var schema: Schema
    private var schemaChanged = false
    var objects: StateObjects
    var incoming: IncomingLinkIndex?
    /// The schema at each open savepoint, the innermost one last, and whether it had changed.
    private var savedSchemas: [(schema: Schema, changed: Bool)] = []

    package init(
        schema: Schema = Schema(), residency: Residency = .complete, compatibility: PeerCompatibility = .standardState,
        indexingIncomingLinks: Bool = false, base: (any StateBase)? = nil
    ) {
        self.schema = schema
        objects = StateObjects(residency: residency, base: base)
        self.compatibility = compatibility
        incoming = indexingIncomingLinks || base != nil ? IncomingLinkIndex() : nil
    }

    package var residency: Residency { objects.residency }
    /// Where the objects are that the state does not hold itself; nil if it holds all that it knows of.
    package var base: (any StateBase)? { objects.base }
    /// States with the same number have the same objects, whatever these hold; for states that know of every object.
    package var membership: UInt64 { objects.membership }
    package var cachedObjectCount: Int { objects.heldCount }

    /// The same contents on a base that has everything that was changed on the one before. There must be no changes left to take and no
    /// savepoint.
    package func standing(on base: any StateBase) -> RealmState {
        precondition(!hasChanges && !hasSavepoint, "a state that is being changed cannot be put on another base")
        var state = RealmState(schema: schema, residency: residency, compatibility: compatibility, base: base)
        state.objects = objects.standing(on: base)
        return state
    }

    // MARK: Savepoints

    package var hasSavepoint: Bool { objects.hasSavepoint }

    /// Opens a savepoint inside any that is open.
    package mutating func begin() {
        savedSchemas.append((schema, schemaChanged))
        objects.begin()
    }

    /// Keeps what has been done since the innermost savepoint, which is closed; an outer one can still undo it.
    package mutating func commit() {
        _ = savedSchemas.popLast()
        objects.commit()
    }

    /// Undoes what has been done since the innermost savepoint and closes it.
    package mutating func rollback() {
        guard let saved = savedSchemas.popLast() else { return }
        objects.rollback(forgetting: schema.tables.map(\.id).filter { saved.schema.table($0) == nil })
        (schema, schemaChanged) = saved
    }

    // MARK: Changes

    /// Takes what has changed since the last call. There must be no open savepoint.
    package mutating func takeChanges() -> StateChanges {
        precondition(!hasSavepoint, "changes taken inside a savepoint could still be undone")
        var changes = objects.takeChanges(schema)
        changes.schemaChanged = schemaChanged
        schemaChanged = false
        return changes
    }

    package var hasChanges: Bool { schemaChanged || objects.hasChanges }

    /// Forgets the objects that have not been used for longest, until `limit` are left, if more are held.
    ///
    /// Only a partial state may forget; objects whose changes have not been taken stay. Forgets an eighth more than
    /// asked for, so that the search is not repeated for every object.
    package mutating func trimCache(to limit: Int) { objects.trim(to: limit) }

    /// Removes an object as a consequence of this realm's own rules, not of an instruction: an asymmetric object, say,
    /// once it has been recorded for upload.
    package mutating func discard(_ address: ObjectAddress) {
        guard let reference = reference(to: address), objects[reference] != nil else { return }
        objects.store(nil, reference)
    }

    /// Puts an object in place of the one at that address, or removes that one: for a client reset, which takes over the
    /// server's state without instructions.
    package mutating func replace(_ address: ObjectAddress, with object: StoredObject?) {
        guard let reference = reference(to: address) else { return }
        objects.store(object, reference)
        if let object { incoming?.add(linksOf: object, from: address) }
    }
}

// MARK: - Instructions for the schema

extension RealmState {
    mutating func apply(_ addTable: Instruction.AddTable, _ strings: InternTable) throws(RealmStateError) {
        guard let table = try schema.apply(addTable, strings) else { return }
        schemaChanged = true
        objects.addTable(table)
    }

    mutating func eraseTable(_ name: ByteString) throws(RealmStateError) {
        objects.eraseTable(try schema.erase(name))
        schemaChanged = true
    }

    mutating func apply(_ addColumn: Instruction.AddColumn, _ strings: InternTable) throws(RealmStateError) {
        if try schema.apply(addColumn, strings) { schemaChanged = true }
    }

    mutating func eraseColumn(_ className: ByteString, _ field: ByteString) throws(RealmStateError) {
        try schema.erase(className, field)
        schemaChanged = true
    }
}

// MARK: - Loading and reading

extension RealmState {
    private func reference(to address: ObjectAddress) -> ObjectReference? {
        schema.table(address.className).map { ObjectReference(table: $0.id, key: address.key) }
    }

    /// Whether it is known what the object holds or that it does not exist; always so for an unknown class.
    package func isLoaded(_ address: ObjectAddress) -> Bool {
        guard let reference = reference(to: address) else { return true }
        return objects.isLoaded(reference)
    }

    /// Takes over an object that a store holds, nil for one that the store lacks. What is already known stays.
    package mutating func load(_ address: ObjectAddress, _ object: StoredObject?) {
        guard let reference = reference(to: address), objects.load(object, reference) else { return }
        if let object { incoming?.add(linksOf: object, from: address) }
    }

    /// The object as it is now; nil if it does not exist or is not loaded.
    package func object(_ address: ObjectAddress) -> StoredObject? { reference(to: address).flatMap { objects[$0] } }

    /// Whether the object exists, as far as it is loaded.
    package func contains(_ address: ObjectAddress) -> Bool { object(address) != nil }

    /// The loaded objects of a class, in no particular order.
    package func objects(of className: ByteString) -> [(key: ObjectKey, object: StoredObject)] {
        if base != nil { return Array(cursor(of: className)) }
        guard let table = schema.table(className) else { return [] }
        return objects.held(of: table.id).compactMap { key, row in row.object.map { (key, $0) } }
    }

    /// Visits the loaded objects of a class, in no particular order, without a copy of their list.
    package func forEachObject<Failure: Error>(
        of className: ByteString, _ body: (ObjectKey, StoredObject) throws(Failure) -> Void
    ) throws(Failure) {
        if base != nil {
            for (key, object) in cursor(of: className) { try body(key, object) }
            return
        }
        guard let table = schema.table(className) else { return }
        for (key, row) in objects.held(of: table.id) {
            if let object = row.object { try body(key, object) }
        }
    }

    /// The objects of a class by ascending key. The cursor goes through those that there are now.
    package func cursor(of className: ByteString) -> ObjectCursor {
        schema.table(className).map { objects.cursor(of: $0.id) }
            ?? ObjectCursor(TableID(rawValue: 0), rows: [:], base: nil)
    }

    /// The keys of a class, ascending, after one or from the first. The cursor goes through those that there are now.
    package func keys(of className: ByteString, after key: ObjectKey? = nil) -> KeyCursor {
        schema.table(className).map { objects.keys(of: $0.id, after: key) }
            ?? KeyCursor(TableID(rawValue: 0), rows: [:], base: nil, after: nil)
    }

    package func objectCount(of className: ByteString) -> Int {
        schema.table(className).map { objects.count(of: $0.id) } ?? 0
    }

    /// Visits the objects that the state itself knows of, or knows not to exist: on a base, what has changed since.
    package func forEachKnownKey(_ body: (TableID, ObjectKey) -> Void) { objects.forEachKnownKey(body) }
}
