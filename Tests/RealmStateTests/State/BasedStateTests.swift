import Changesets
import RealmState
import TestSupport
import Testing

/// What a state that stands on a base says of its objects when its changes are taken.
@Suite struct BasedStateTests {
    /// A base with the objects of another state.
    private final class Base: StateBase {
        let state: RealmState
        init(_ state: RealmState) { self.state = state }

        private func name(_ table: TableID) -> ByteString { state.schema.table(table)?.name ?? "" }

        func object(_ key: ObjectKey, of table: TableID) -> StoredObject? {
            state.object(ObjectAddress(name(table), key))
        }
        func count(of table: TableID) -> Int { state.objectCount(of: name(table)) }
        func keys(of table: TableID, after key: ObjectKey?, limit: Int) -> [ObjectKey] {
            Array(objects(of: table, after: key).map(\.key).prefix(limit))
        }
        func objects(of table: TableID, after key: ObjectKey?) -> [(key: ObjectKey, object: StoredObject)] {
            state.objects(of: name(table)).sorted { $0.key < $1.key }.filter { item in key.map { item.key > $0 } ?? true
            }
        }
        func objects(at keys: [ObjectKey], of table: TableID) -> [StoredObject?] {
            keys.map { object($0, of: table) }
        }
        func keys(of table: TableID, having column: ColumnID, in ranges: [OrderedBytes.Range]) -> [ObjectKey]? { nil }
        func sources(linkingTo target: ObjectAddress) -> [(table: TableID, key: ObjectKey)] { [] }
    }

    /// Makes a state on a base with one object.
    private func make() throws -> RealmState {
        var below = RealmState(schema: try SampleRealm.make().schema)
        try below.apply { $0.create("T", .int(1)) }
        return RealmState(schema: below.schema, base: Base(below))
    }

    private func address(_ key: Int64) -> ObjectAddress { ObjectAddress("T", .int(key)) }

    private func new(_ changes: StateChanges) -> [ObjectKey: Bool] {
        Dictionary(uniqueKeysWithValues: changes.upserted.map { ($0.key, $0.isNew) })
    }

    @Test func onlyWhatNeitherTheBaseNorTakenChangesHaveIsNew() throws {
        var state = try make()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(7))
            builder.create("T", .int(2))
            builder.create("T", .int(3))
            builder.erase("T", .int(3))
            builder.create("T", .int(3))
        }
        expectEqual(new(state.takeChanges()), [.int(1): false, .int(2): true, .int(3): true])
        expectEqual(state.objectCount(of: "T"), 3)
        expectTrue(!state.hasChanges)
        // The objects are written now, as far as the state knows.
        try state.apply { builder in
            builder.update(FieldAddress(address(2), "i"), .int(8))
            builder.erase("T", .int(3))
            builder.create("T", .int(3))
            builder.erase("T", .int(1))
            builder.create("T", .int(1))
        }
        expectEqual(new(state.takeChanges()), [.int(1): false, .int(2): false, .int(3): false])
    }

    @Test func goingBackTakesNewObjectsAway() throws {
        var state = try make()
        try state.apply { $0.create("T", .int(2)) }
        state.begin()
        try state.apply { builder in
            builder.update(FieldAddress(address(2), "i"), .int(8))
            builder.erase("T", .int(1))
            builder.create("T", .int(3))
        }
        expectEqual(state.objectCount(of: "T"), 2)
        state.rollback()
        expectEqual(state.objectCount(of: "T"), 2)
        expectTrue(state.contains(address(1)) && !state.contains(address(3)))
        let changes = state.takeChanges()
        expectTrue(new(changes) == [.int(2): true] && changes.erased.isEmpty)
    }
}
