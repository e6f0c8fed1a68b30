import Changesets
import RealmState
import SyncModel

@testable import Views

/// A realm with two classes, one of which has defaults where the other one has nulls.
enum PoolClass: UInt32, CaseIterable, Sendable {
    case item, note

    var name: String { self == .item ? "Item" : "Note" }
    var isNullable: Bool { self == .note }

    /// A key as objects have it: items have numbers, notes texts.
    func key(_ number: Int64) -> ObjectKey { self == .item ? .int(number) : .string(ByteString("k\(number)")) }

    /// The same as queries write it.
    func keyText(_ number: Int64) -> String { self == .item ? "\(number)" : "'k\(number)'" }

    /// A realm's schema before and after the property `team` was added.
    static let schemas: [Schema] = {
        var state = RealmState()
        var schemas: [Schema] = []
        for names in [["owner_id", "done"], ["team"]] {
            var changeset = Changeset()
            for pool in allCases {
                let table = changeset.strings.intern(ByteString(pool.name))
                if schemas.isEmpty {
                    let key = changeset.strings.intern("_id")
                    changeset.instructions.append(
                        .addTable(
                            .init(
                                table: table,
                                kind: .topLevel(
                                    keyField: key, keyType: pool == .item ? .int : .string, keyNullable: false,
                                    asymmetric: false))))
                }
                for name in names {
                    changeset.instructions.append(
                        .addColumn(
                            .init(
                                table: table, field: changeset.strings.intern(ByteString(name)),
                                type: name == "done" ? .bool : .string, nullable: pool.isNullable || name == "team",
                                collection: .single)))
                }
            }
            try? state.apply(changeset)
            schemas.append(state.schema)
        }
        return schemas
    }()

    var table: TableSchema? { Self.schemas[1].table(ByteString(name)) }
}

/// The place of an object of `PoolClass`.
struct PoolSlot: Hashable, Sendable, CustomStringConvertible {
    var pool: PoolClass
    var key: Int64

    var slot: ObjectSlot { ObjectSlot(pool.table?.id ?? TableID(rawValue: 99), pool.key(key)) }
    var description: String { "\(pool.name) \(key)" }
}

/// What an object of `PoolClass` holds.
struct PoolObject: Equatable, Sendable, CustomStringConvertible {
    var owner: String?
    var done: Bool?
    var team: String?
    /// Whether defaults and nulls are left out of the stored form.
    var isTerse: Bool

    func stored(as pool: PoolClass) -> StoredObject {
        var object = StoredObject()
        func set(_ name: ByteString, _ value: Value) {
            guard let column = pool.table?.column(name), !isTerse || value != column.defaultValue else { return }
            object[column.id] = value
        }
        set("owner_id", owner.map { .string(ByteString($0)) } ?? .null)
        set("done", done.map { .bool($0) } ?? .null)
        // Before the property was added no object has it.
        if let team { set("team", .string(ByteString(team))) }
        return object
    }

    var description: String {
        "(\(owner ?? "null"), \(done.map { "\($0)" } ?? "null"), \(team ?? "null")\(isTerse ? ", terse" : ""))"
    }
}
