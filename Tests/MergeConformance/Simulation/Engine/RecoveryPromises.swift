import Changesets
import RealmState

/// What a recovery has to keep of a client's unsynced changes, worked out from the published rules and without
/// replaying anything (docs/resets.md, "Rules of recovery").
///
/// Whether each object exists is certain; of what it holds, those parts are followed that can be told without indexes of
/// lists: properties and dictionary entries (the client's value wins), counters (both sides add up), lists that were only
/// inserted into (nothing is lost) or changed in place (the client's list wins), and members of sets.
struct RecoveryPromises {
    private let fresh: RealmState
    private let local: RealmState
    private var existence: [ObjectAddress: Bool] = [:]
    private var promises: [ObjectAddress: [ByteString: FieldPromise]] = [:]
    private var erased: Set<ObjectAddress> = []
    private var added: Set<[ByteString]> = []
    private var erasesSchema = false

    init(fresh: RealmState, local: RealmState) {
        self.fresh = fresh
        self.local = local
    }

    /// Whether a schema stands in the way: one that the client has taken something from, or the server.
    var mayBeBroken: Bool {
        guard !erasesSchema else { return true }
        return local.schema.tables.contains { table in
            guard let other = fresh.schema.table(table.name) else { return !added.contains([table.name]) }
            return table.columns.contains { column in
                other.column(column.name) == nil && !added.contains([table.name, column.name])
            }
        }
    }

    // MARK: Following

    /// Takes up the next of the unsynced changesets.
    mutating func follow(_ changeset: Changeset) {
        let strings = changeset.strings
        func name(_ interned: InternedString) -> ByteString { strings[interned] ?? "" }
        func address(_ table: InternedString, _ key: PrimaryKey) -> ObjectAddress {
            ObjectAddress(name(table), strings.resolve(key) ?? .null)
        }
        for instruction in changeset.instructions {
            switch instruction {
            case .addTable(let table): added.insert([name(table.table)])
            case .addColumn(let column): added.insert([name(column.table), name(column.field)])
            case .eraseTable, .eraseColumn: erasesSchema = true
            case .createObject(let table, let key): existence[address(table, key)] = true
            case .eraseObject(let table, let key):
                let object = address(table, key)
                existence[object] = false
                erased.insert(object)
                promises[object] = nil
            default:
                guard let path = instruction.fieldPath else { continue }
                let object = address(path.table, path.object)
                let field = name(path.field)
                guard exists(object), let column = local.schema.table(object.className)?.column(field) else { continue }
                var promise = promises[object]?[field] ?? FieldPromise(isErased: erased.contains(object))
                promise.follow(instruction, path.path, column, strings)
                promises[object, default: [:]][field] = promise
            }
        }
    }

    private func exists(_ object: ObjectAddress) -> Bool { existence[object] ?? fresh.contains(object) }

    // MARK: Checking

    func check(_ recovered: RealmState) throws(SimulationFailure) {
        for table in recovered.schema.tables where table.kind == .topLevel {
            for state in [recovered, fresh] {
                for (key, _) in state.objects(of: table.name) {
                    try check(ObjectAddress(table.name, key), recovered)
                }
            }
        }
        for object in existence.keys { try check(object, recovered) }
        for (object, fields) in promises {
            for (field, promise) in fields {
                let address = FieldAddress(object, field)
                let found = recovered.value(at: address)
                guard let broken = promise.broken(found, fresh.value(at: address), local.value(at: address)) else {
                    continue
                }
                throw SimulationFailure(
                    .recoveriesKeepChanges, "\(object.className) \(object.key), '\(field)': expected \(broken)")
            }
        }
    }

    private func check(_ object: ObjectAddress, _ recovered: RealmState) throws(SimulationFailure) {
        guard recovered.contains(object) != exists(object) else { return }
        throw SimulationFailure(
            .recoveriesKeepChanges,
            "\(object.className) \(object.key) is \(exists(object) ? "lost" : "there again") after the recovery")
    }
}
