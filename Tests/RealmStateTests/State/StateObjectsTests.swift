import Changesets
import TestSupport
import Testing

@testable import RealmState

/// The objects of a state by themselves: classes are numbers.
struct StateObjectsTests {
    private static let table = TableID(rawValue: 1)
    private static func reference(_ key: Int64) -> ObjectReference { ObjectReference(table: table, key: .int(key)) }

    private static func changed(_ objects: inout StateObjects) -> Int {
        var schema = Schema()
        for name in ["Other", "Task"] {
            _ = try? schema.addTable(
                ByteString(name), kind: .topLevel, key: KeySchema(name: "_id", type: .int, nullable: false))
        }
        let changes = objects.takeChanges(schema)
        return changes.upserted.count + changes.erased.count
    }

    @Test func goingBackGivesUpWhatWasMade() throws {
        var objects = StateObjects(residency: .complete, base: nil)
        try expectTrue(objects.create(Self.reference(1), as: StoredObject()))
        let membership = objects.membership
        objects.begin()
        try expectTrue(objects.create(Self.reference(2), as: StoredObject()))
        try expectTrue(!objects.create(Self.reference(1), as: StoredObject()))
        objects.store(nil, Self.reference(1), existed: true)
        expectTrue(objects.heldCount == 1 && objects[Self.reference(1)] == nil)
        objects.rollback(forgetting: [])
        expectTrue(objects.heldCount == 1 && objects[Self.reference(2)] == nil && objects[Self.reference(1)] != nil)
        expectTrue(objects.membership != membership && !objects.hasSavepoint)
        expectEqual(Self.changed(&objects), 1)
        expectTrue(!objects.hasChanges)
    }

    @Test func aPartialStateNamesWhatWasNotLoaded() throws {
        var objects = StateObjects(residency: .partial, base: nil)
        let error = #expect(throws: RealmStateError.self) { try objects.isPresent(Self.reference(1)) }
        expectEqual(error?.code, .notLoaded)
        expectTrue(objects.load(nil, Self.reference(1)))
        expectTrue(!objects.load(StoredObject(), Self.reference(1)))
        try expectTrue(!objects.isPresent(Self.reference(1)))
        // All objects of a class that was made here are known.
        objects.addTable(TableID(rawValue: 2))
        try expectTrue(!objects.isPresent(ObjectReference(table: TableID(rawValue: 2), key: .int(1))))
    }

    @Test func whatWasNotTakenIsNotForgotten() {
        var objects = StateObjects(residency: .partial, base: nil)
        for key in 1...10 { expectTrue(objects.load(StoredObject(), Self.reference(Int64(key)))) }
        objects.store(StoredObject(), Self.reference(1), existed: true)
        objects.trim(to: 0)
        expectTrue(objects.heldCount == 1 && objects.isLoaded(Self.reference(1)))
        expectEqual(Self.changed(&objects), 1)
        objects.trim(to: 0)
        expectEqual(objects.heldCount, 0)
    }
}
