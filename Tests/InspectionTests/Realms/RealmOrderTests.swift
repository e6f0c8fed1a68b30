import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite struct RealmOrderTests {
    private func place(_ partition: String, version: UInt64, bytes: UInt64, slice: Int) -> RealmPlace {
        let record = RealmRecord(
            id: RealmID(1), name: RealmName(app: "tasks", partition: partition), generation: 1,
            latest: SaltedServerVersion(version: ServerVersion(version), salt: 1), salt: 1, saltEpoch: Epoch(1),
            historyBytes: bytes)
        return RealmPlace(record, slice: SliceNumber(slice))
    }

    @Test func realmsAreSortedByWhatIsAskedFor() throws {
        let places = [
            place("b", version: 9, bytes: 5, slice: 1), place("c", version: 2, bytes: 70, slice: 0),
            place("a", version: 9, bytes: 6, slice: 2),
        ]
        func sorted(_ name: String) throws -> [String] {
            let order = try #require(RealmOrder(name))
            return places.sorted(by: order.isBefore).map(\.partition)
        }
        try expectEqual(sorted("partition"), ["a", "b", "c"])
        try expectEqual(sorted("-partition"), ["c", "b", "a"])
        // What is equal stays in the order of partitions' names.
        try expectEqual(sorted("version"), ["c", "a", "b"])
        try expectEqual(sorted("-historyBytes"), ["c", "a", "b"])
        try expectEqual(sorted("slice"), ["c", "b", "a"])
        expectTrue(RealmOrder("size") == nil && RealmOrder("-") == nil)
    }

    @Test func aSearchIsForAPartOfThePartitionInAnyCase() {
        let realm = place("\"Store-NW\"", version: 1, bytes: 1, slice: 0)
        expectTrue(realm.contains("store") && realm.contains("NW") && realm.contains(nil) && realm.contains(""))
        expectTrue(!realm.contains("south"))
    }
}
