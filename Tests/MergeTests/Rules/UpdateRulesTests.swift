import Changesets
import Merge
import TestSupport
import Testing

/// Section 7.
@Suite struct UpdateRulesTests {
    private func set(_ value: Payload, isDefault: Bool = false) -> Instruction {
        .set(.at("x"), value, isDefault: isDefault)
    }

    @Test func theNewerAssignmentWins() throws {
        try expect([set(.int(1))], 1, with: [set(.int(2))], 2, gives: [], [set(.int(2))])
    }

    @Test func ofEqualTimesTheHigherFileWins() throws {
        // A is of file 2, B of file 3; mirrored the other way round.
        let merged = try merge([set(.int(1))], rank: 1, with: [set(.int(2))], rank: 1)
        expectEqual(merged, Merged(a: [], b: [set(.int(2))]))
    }

    @Test func aDefaultLosesToAnyOtherAssignment() throws {
        let isDefault = set(.int(2), isDefault: true)
        try expect([set(.int(1))], 1, with: [isDefault], 2, gives: [set(.int(1))], [])
        try expect([set(.int(1), isDefault: true)], 1, with: [isDefault], 2, gives: [], [isDefault])
    }

    @Test func makingAnEmbeddedObjectLosesToAnyOtherAssignment() throws {
        let make = Instruction.set(.at("emb"), .objectValue)
        let remove = Instruction.set(.at("emb"), .null)
        try expect([make], 2, with: [remove], 1, gives: [], [remove])
        try expect([make], 1, with: [make], 2, gives: [], [make])
    }

    @Test func twoCollectionsOfOneKindAreMerged() throws {
        for kind in [Payload.list, .dictionary] {
            try expect([set(kind)], with: [set(kind)], gives: [set(kind)], [set(kind)])
        }
        try expect([set(.list)], 1, with: [set(.dictionary)], 2, gives: [], [set(.dictionary)])
    }

    @Test func keysOfADictionaryAreIndependent() throws {
        let erased = Instruction.set(.at("d", "k"), .erased)
        let seven = Instruction.set(.at("d", "k"), .int(7))
        let other = Instruction.set(.at("d", "j"), .int(8))
        try expect([erased], 1, with: [seven, other], 2, gives: [], [seven, other])
    }

    @Test func assignmentsToAnElementHaveToAgreeOnTheSize() throws {
        try expect([.assign(1, .int(1))], 1, with: [.assign(1, .int(2))], 2, gives: [], [.assign(1, .int(2))])
        expectRefusal([.assign(1)], with: [.assign(1, of: 4)], .listMismatch)
    }

    @Test func anIncrementIsAddedToAnOlderAssignment() throws {
        try expect(
            [set(.int(10))], 1, with: [.add(.at("x"), 3)], 2, gives: [set(.int(13))], [.add(.at("x"), 3)])
        try expect(
            [set(.int(.max))], 1, with: [.add(.at("x"), 1)], 2, gives: [set(.int(.min))], [.add(.at("x"), 1)])
    }

    @Test func anIncrementIsLostWithANewerAssignment() throws {
        try expect([set(.int(10))], 2, with: [.add(.at("x"), 3)], 1, gives: [set(.int(10))], [])
    }

    @Test func anIncrementIsAddedToANewerDefault() throws {
        try expect(
            [set(.int(10), isDefault: true)], 2, with: [.add(.at("x"), 3)], 1, gives: [set(.int(13), isDefault: true)],
            [.add(.at("x"), 3)])
    }

    @Test func anIncrementSurvivesNullButNoOtherValue() throws {
        try expect([set(.null)], 1, with: [.add(.at("x"), 3)], 2, gives: [set(.null)], [.add(.at("x"), 3)])
        try expect([set(.string("s"))], 1, with: [.add(.at("x"), 3)], 2, gives: [set(.string("s"))], [])
    }

    /// Null of rank 0 and an increment of rank 2 are merged first, then comes 10 of rank 1: 11.
    @Test func anIncrementCountsAgainOnceAnAssignmentComesBetween() throws {
        let add = Instruction.add(.at("x"), 1)
        let merged = try merge([set(.null), set(.int(10))], rank: 1, with: [add], rank: 2)
        expectEqual(merged.a, [set(.null), set(.int(11))])
        expectEqual(merged.b, [add])
    }

    @Test func incrementsOfBothSidesPass() throws {
        try expect([.add(.at("x"), 1)], with: [.add(.at("x"), 2)], gives: [.add(.at("x"), 1)], [.add(.at("x"), 2)])
    }
}
