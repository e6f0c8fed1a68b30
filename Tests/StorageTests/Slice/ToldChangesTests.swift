import Changesets
import SyncModel
import TestSupport
import Testing

@testable import Storage

struct ToldChangesTests {
    private func place(_ text: String) throws -> ChangePlace { try #require(ChangePlace(text)) }

    @Test func aChangeFollowsTheRealmsLastAndItsClassesLast() throws {
        var told = ToldChanges()
        try expectEqual(told.tell(place("1.1.0"), of: "A"), ChangePredecessors())
        try expectEqual(told.tell(place("1.1.1"), of: "B"), ChangePredecessors(inRealm: place("1.1.0")))
        try expectEqual(
            told.tell(place("1.3.0"), of: "A"), ChangePredecessors(inRealm: place("1.1.1"), inClass: place("1.1.0")))
        // A store in between changes nothing.
        told = try ToldChanges(decoding: told.encoded())
        try expectEqual(
            told.tell(place("2.1.0"), of: "B"), ChangePredecessors(inRealm: place("1.3.0"), inClass: place("1.1.1")))
    }

    @Test func everyClassFollowsTheErasureOfTheRealmBefore() throws {
        let erasure = try place("1.7.0")
        var told = try ToldChanges(decoding: ToldChanges(after: erasure).encoded())
        try expectEqual(told.tell(place("1.9.0"), of: "A"), ChangePredecessors(inRealm: erasure, inClass: erasure))
        try expectEqual(
            told.tell(place("1.9.1"), of: "B"), ChangePredecessors(inRealm: place("1.9.0"), inClass: erasure))
    }

    @Test func whatCannotBeReadIsSaidToBeCorrupt() throws {
        expectEqual(ToldChanges().encoded(), [])
        try expectEqual(ToldChanges(decoding: []), ToldChanges())
        var told = ToldChanges()
        _ = try told.tell(place("1.1.0"), of: "A")
        let bytes = told.encoded()
        let many: [UInt8] = [1, 1, 1, 0, 0] + Array(repeating: 0xFF, count: 9)
        let others: [[UInt8]] = [[9], [1], bytes.dropLast(), bytes + [0], many]
        for wrong in others {
            #expect(throws: StoreError.self, "\(wrong)") { _ = try ToldChanges(decoding: wrong) }
        }
    }
}
