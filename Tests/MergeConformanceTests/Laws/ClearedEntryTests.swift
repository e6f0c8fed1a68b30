import Changesets
import Merge
import RealmState
import TestSupport
import Testing

/// One peer erases a dictionary's entry, the other clears the collection in it. Whichever is newer, and whoever merges,
/// both end with the same.
@Suite struct ClearedEntryTests {
    private static let object = ObjectAddress("T", .int(1))

    private func base() throws -> RealmState {
        var state = RealmState()
        _ = try state.record { transaction in
            try transaction.createTable("T", key: KeySchema(name: "_id", type: .int, nullable: false))
            let mixed = ElementType(type: .null, nullable: true, target: nil)
            try transaction.addColumn("T", "d", mixed, collection: .dictionary)
            try transaction.addColumn("T", "mx", mixed)
            try transaction.createObject(Self.object)
            let entries = Value.dictionary(["k": .list([.int(1), .int(2)])])
            try transaction.set(FieldAddress(Self.object, "d"), to: entries)
            try transaction.set(FieldAddress(Self.object, "mx"), to: entries)
        }
        return state
    }

    @Test(arguments: ["d", "mx"] as [ByteString], [true, false])
    func bothPeersEndWithTheSame(field: ByteString, clearIsNewer: Bool) throws {
        let entry = FieldAddress(Self.object, field, [.key("k")])
        var eraser = try base()
        var clearer = try base()
        let erasure = try eraser.record { try $0.removeKey(entry) }.changeset
        let clearing = try clearer.record { transaction in
            try transaction.clear(entry)
            try transaction.insert(.int(3), at: entry.appending(.index(0)))
        }.changeset
        let (older, newer): (UInt64, UInt64) = (1, 2)

        let result = try MergeEngine(compatibility: .convergent).transform(
            incoming: [
                IncomingChangeset(
                    version: 1, lastIntegratedLocalVersion: 0, originTimestamp: clearIsNewer ? newer : older,
                    originFileIdent: 3, changeset: try Changeset(parsing: clearing))
            ],
            over: [
                LocalChangeset(
                    version: 1, originTimestamp: clearIsNewer ? older : newer, originFileIdent: 2,
                    changeset: try Changeset(parsing: erasure))
            ], currentLocalVersion: 1)
        try eraser.apply(result.incoming[0])
        try clearer.apply(result.modifiedLocal.first?.changeset ?? Changeset(parsing: erasure))

        expectEqual(StateDump.canonical(of: eraser), StateDump.canonical(of: clearer))
        let left = clearIsNewer ? Value.list([.int(3)]) : nil
        expectEqual(eraser.value(at: entry), left)
    }
}
