import Changesets
import Merge
import TestSupport
import Testing

/// Section 6.
@Suite struct ObjectRulesTests {
    @Test func bothSidesMayCreateAnObject() throws {
        let a: [Instruction] = [.create(), .set(.at("x"), .int(1))]
        let b: [Instruction] = [.create(), .set(.at("y"), .int(2))]
        try expect(a, with: b, gives: a, b)
    }

    @Test func erasingDiscardsEvenANewerCreation() throws {
        let a: [Instruction] = [.create(), .set(.at("x"), .int(5)), .erase()]
        try expect(a, 1, with: [.create()], 2, gives: a, [])
    }

    @Test func erasingDiscardsNewerChangesOfTheObject() throws {
        let changes: [Instruction] = [
            .set(.at("x"), .int(3)), .add(.at("x"), 1), .insert(0), .move(0, 1), .remove(0),
            .clear(.at("l"), collection: .list), .setInsert(.at("s"), value: .int(1)),
            .setErase(.at("s"), value: .int(1)), .set(.at("d", "k"), .erased),
        ]
        let others: [Instruction] = [.set(.at("x", object: 2), .int(3))]
        try expect([.erase()], 1, with: changes + others, 2, gives: [.erase()], others)
    }

    @Test func ofTwoErasuresTheNewerStays() throws {
        try expect([.erase()], 1, with: [.erase()], 2, gives: [], [.erase()])
    }

    @Test func theNewestRecreationSurvives() throws {
        let a: [Instruction] = [
            .erase(), .create(), .set(.at("x"), .int(1)), .erase(), .create(), .set(.at("x"), .int(11)),
        ]
        let b: [Instruction] = [.erase(), .create(), .set(.at("x"), .int(2))]
        try expect(a, 1, with: b, 2, gives: [], b)
    }

    @Test func linksToAnErasedObjectPass() throws {
        let link = Instruction.set(
            .at("dog", object: 7, table: "Person"), .link(table: Names.intern("Dog"), key: .int(1)))
        try expect([.erase()], with: [link], gives: [.erase()], [link])
    }

    @Test func keysOfDifferentKindsAreDifferentObjects() throws {
        let null = Instruction.createObject(table: Names.intern("Dog"), object: .null)
        try expect([.erase(0)], with: [null], gives: [.erase(0)], [null])
    }

    /// Each changeset numbers its own strings.
    @Test func stringKeysAreComparedByContent() throws {
        var mine = InternTable()
        let erase = Instruction.eraseObject(table: mine.intern("Dog"), object: .string(mine.intern("rex")))
        var yours = InternTable()
        let otherKey = yours.intern("fido")
        let key = yours.intern("rex")
        let table = yours.intern("Dog")
        let created: [Instruction] = [
            .createObject(table: table, object: .string(key)), .createObject(table: table, object: .string(otherKey)),
        ]
        let result = try MergeEngine(compatibility: .convergent).transform(
            incoming: [incoming(Changeset(strings: yours, instructions: created), rank: 2, file: 3)],
            over: [local(Changeset(strings: mine, instructions: [erase]), rank: 1, file: 2)], currentLocalVersion: 1)
        expectEqual(result.incoming[0].instructions, [created[1]])
    }
}
