package import Changesets
import HashTreeCollections
import Synchronization

/// The objects of one class. A persistent map: a copy shares with its original all but what is changed in it, so that a
/// writer beside readers that hold on to older states pays for what it touches, not for the size of the class.
typealias ObjectRows = TreeDictionary<ObjectKey, CachedObject>

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

    package internal(set) var schema: Schema
    package let residency: Residency
    /// How changes are recorded and applied where the reference engine is at fault (docs/merge.md, "Where we differ").
    package var compatibility: PeerCompatibility

    /// Where the objects are that the state does not hold itself; nil if it holds all that it knows of.
    package let base: (any StateBase)?

    /// What the state itself knows of objects. It covers what the base has.
    var rows: [TableID: ObjectRows] = [:]
    /// How many objects more than in the base there are of each class.
    var countsBeyondBase: [TableID: Int] = [:]
    /// States with the same number have the same objects, whatever these hold; for states that know of every object.
    package internal(set) var membership = Self.nextMembership()
    /// Tables of which every object is known although the residency is partial: those created since.
    var completeTables: Set<TableID> = []
    var clock: UInt64 = 0
    package internal(set) var cachedObjectCount = 0

    var schemaChanged = false
    var erasedTables: [TableID] = []
    var objectChanges = ObjectChanges()

    /// The open savepoints, the innermost one last.
    var savepoints: [Savepoint] = []
    var lastSavepoint: UInt64 = 0

    var incoming: IncomingLinkIndex?

    package init(
        schema: Schema = Schema(), residency: Residency = .complete, compatibility: PeerCompatibility = .standardState,
        indexingIncomingLinks: Bool = false, base: (any StateBase)? = nil
    ) {
        self.schema = schema
        self.base = base
        self.residency = residency
        self.compatibility = compatibility
        incoming = indexingIncomingLinks || base != nil ? IncomingLinkIndex() : nil
    }

    private static let lastMembership = Atomic<UInt64>(0)

    static func nextMembership() -> UInt64 { lastMembership.add(1, ordering: .relaxed).newValue }

    /// The same contents on a base that has everything that was changed on the one before. There must be no changes left to take and no
    /// savepoint.
    package func standing(on base: any StateBase) -> RealmState {
        precondition(!hasChanges && !hasSavepoint, "a state that is being changed cannot be put on another base")
        var state = RealmState(schema: schema, residency: residency, compatibility: compatibility, base: base)
        state.membership = membership
        return state
    }
}

// MARK: - Loading and reading

extension RealmState {
    /// Whether it is known what the object holds or that it does not exist; always so for an unknown class.
    package func isLoaded(_ address: ObjectAddress) -> Bool {
        guard residency == .partial, let table = schema.table(address.className)?.id else { return true }
        return completeTables.contains(table) || rows[table]?[address.key] != nil
    }

    /// Takes over an object that a store holds, nil for one that the store lacks. What is already known stays.
    package mutating func load(_ address: ObjectAddress, _ object: StoredObject?) {
        guard let table = schema.table(address.className)?.id else { return }
        clock &+= 1
        guard rows[table]?[address.key] == nil, object != nil || residency == .partial else { return }
        rows[table, default: [:]][address.key] = CachedObject(object: object, lastUse: clock)
        cachedObjectCount += 1
        if let object { incoming?.add(linksOf: object, from: address) }
    }

    /// The object as it is now; nil if it does not exist or is not loaded.
    package func object(_ address: ObjectAddress) -> StoredObject? {
        schema.table(address.className).flatMap { object(ObjectReference(table: $0.id, key: address.key)) }
    }

    func object(_ reference: ObjectReference) -> StoredObject? {
        if let row = rows[reference.table]?[reference.key] { return row.object }
        return base?.object(reference.key, of: reference.table)
    }

    /// Whether the object exists, as far as it is loaded.
    package func contains(_ address: ObjectAddress) -> Bool { object(address) != nil }

    /// The loaded objects of a class, in no particular order.
    package func objects(of className: ByteString) -> [(key: ObjectKey, object: StoredObject)] {
        if base != nil { return Array(cursor(of: className)) }
        guard let table = schema.table(className), let rows = rows[table.id] else { return [] }
        return rows.compactMap { key, row in row.object.map { (key, $0) } }
    }

    /// Visits the loaded objects of a class, in no particular order, without a copy of their list.
    package func forEachObject<Failure: Error>(
        of className: ByteString, _ body: (ObjectKey, StoredObject) throws(Failure) -> Void
    ) throws(Failure) {
        if base != nil {
            for (key, object) in cursor(of: className) { try body(key, object) }
            return
        }
        guard let table = schema.table(className), let rows = rows[table.id] else { return }
        for (key, row) in rows {
            if let object = row.object { try body(key, object) }
        }
    }

    package func objectCount(of className: ByteString) -> Int {
        guard let table = schema.table(className) else { return 0 }
        if let base { return base.count(of: table.id) + (countsBeyondBase[table.id] ?? 0) }
        guard let rows = rows[table.id] else { return 0 }
        return residency == .complete ? rows.count : rows.count { $0.value.object != nil }
    }
}
