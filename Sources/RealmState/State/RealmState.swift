package import Changesets
import HashTreeCollections

/// The objects of one class. A persistent map: a copy shares with its original all but what is changed in it, so that a
/// writer beside readers that hold on to older states pays for what it touches, not for the size of the class.
typealias ObjectRows = TreeDictionary<ObjectKey, CachedObject>

/// A realm's schema and objects, or as many of its objects as the caller has loaded.
///
/// A value that does no I/O: its owner applies changesets and then writes `takeChanges()` to a store.
/// Links are stored as class and key, so a link to an object that does not exist needs no bookkeeping.
package struct RealmState: Sendable {
    package enum Residency: Sendable, Hashable {
        /// Every object is here; what is not does not exist.
        case complete
        /// Only what was loaded is here; touching anything else is an error.
        case partial
    }

    package internal(set) var schema: Schema
    package let residency: Residency
    /// How changes are recorded and applied where the reference engine is at fault (docs/merge.md, "Where we differ").
    package var compatibility: PeerCompatibility

    var rows: [TableID: ObjectRows] = [:]
    /// Tables of which every object is known although the residency is partial: those created since.
    var completeTables: Set<TableID> = []
    var clock: UInt64 = 0
    package internal(set) var cachedObjectCount = 0

    var schemaChanged = false
    var erasedTables: [TableID] = []
    var changedObjects: [TableID: Set<ObjectKey>] = [:]

    /// The open savepoints, the innermost one last.
    var savepoints: [Savepoint] = []
    var lastSavepoint: UInt64 = 0

    var incoming: IncomingLinkIndex?

    package init(
        schema: Schema = Schema(), residency: Residency = .complete, compatibility: PeerCompatibility = .standardState,
        indexingIncomingLinks: Bool = false
    ) {
        self.schema = schema
        self.residency = residency
        self.compatibility = compatibility
        incoming = indexingIncomingLinks ? IncomingLinkIndex() : nil
    }
}

// MARK: - Loading and reading

extension RealmState {
    /// The objects that applying a changeset touches; the targets of links are not among them.
    package static func addresses(touchedBy changeset: Changeset) -> Set<ObjectAddress> {
        var result: Set<ObjectAddress> = []
        var last: (table: InternedString, object: PrimaryKey)?
        for instruction in changeset.instructions {
            let target = instruction.target
            guard let object = target.object else { continue }
            // Most instructions follow another one for the same object.
            if let last, last == (target.table, object) { continue }
            last = (target.table, object)
            guard let table = changeset.strings[target.table], let key = changeset.strings.resolve(object) else {
                continue
            }
            result.insert(ObjectAddress(table, key))
        }
        return result
    }

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
        schema.table(address.className).flatMap { rows[$0.id]?[address.key]?.object }
    }

    /// Whether the object exists, as far as it is loaded.
    package func contains(_ address: ObjectAddress) -> Bool { object(address) != nil }

    /// The loaded objects of a class, in no particular order.
    package func objects(of className: ByteString) -> [(key: ObjectKey, object: StoredObject)] {
        guard let table = schema.table(className), let rows = rows[table.id] else { return [] }
        return rows.compactMap { key, row in row.object.map { (key, $0) } }
    }

    /// Visits the loaded objects of a class, in no particular order, without a copy of their list.
    package func forEachObject<Failure: Error>(
        of className: ByteString, _ body: (ObjectKey, StoredObject) throws(Failure) -> Void
    ) throws(Failure) {
        guard let table = schema.table(className), let rows = rows[table.id] else { return }
        for (key, row) in rows {
            if let object = row.object { try body(key, object) }
        }
    }

    package func objectCount(of className: ByteString) -> Int {
        guard let table = schema.table(className), let rows = rows[table.id] else { return 0 }
        return residency == .complete ? rows.count : rows.count { $0.value.object != nil }
    }
}
