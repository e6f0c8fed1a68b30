import Changesets
import Merge
import Testing

/// Section 9.
@Suite struct SetAndClearRulesTests {
    private let clear = Instruction.clear(.at("l"), collection: .list)

    @Test func clearingDiscardsEvenNewerChangesInside() throws {
        let inside: [Instruction] = [
            .insert(0), .move(0, 1), .remove(0), .assign(0), .set(.at("l", 0, "x"), .int(1)),
        ]
        try expect([clear], 1, with: inside, 2, gives: [clear], [])
    }

    @Test func ofTwoClearsTheNewerStaysWithItsElements() throws {
        let a: [Instruction] = [clear, .insert(0, of: 0), .insert(1, of: 1)]
        let b: [Instruction] = [clear, .insert(0, of: 0), .insert(1, of: 1)]
        try expect(a, 1, with: b, 2, gives: [], b)
    }

    @Test func clearingAndMakingTheSameKindOfCollectionGoTogether() throws {
        for (kind, collection) in [(Payload.list, CollectionType.list), (.dictionary, .dictionary)] {
            let make = Instruction.set(.at("any"), kind)
            let clear = Instruction.clear(.at("any"), collection: collection)
            try expect([clear], with: [make], gives: [clear], [make])
        }
    }

    @Test func clearingAndAnotherAssignmentAreDecidedByRank() throws {
        let clear = Instruction.clear(.at("any"), collection: .list)
        let number = Instruction.set(.at("any"), .int(42))
        try expect([clear], 1, with: [number], 2, gives: [], [number])
        try expect([clear], 2, with: [number], 1, gives: [clear], [])
    }

    @Test func anotherKindOfCollectionTakesItsContentsAlong() throws {
        let a: [Instruction] = [.clear(.at("any"), collection: .list), .insert(.at("any", 0), of: 0)]
        let b: [Instruction] = [.set(.at("any"), .dictionary), .set(.at("any", "k"), .int(2))]
        try expect(a, 2, with: b, 1, gives: a, [])
    }

    @Test func clearingDiscardsIncrements() throws {
        let clear = Instruction.clear(.at("any"), collection: .list)
        try expect([clear], 1, with: [.add(.at("any"), 1)], 2, gives: [clear], [])
    }

    @Test func clearingASetDiscardsEvenNewerMembers() throws {
        let clear = Instruction.clear(.at("s"), collection: .set)
        let operations: [Instruction] = [
            .setInsert(.at("s"), value: .int(9)), .setErase(.at("s"), value: .int(8)),
        ]
        try expect([clear], 1, with: operations, 2, gives: [clear], [])
    }

    @Test func clearingASetLeavesAnotherSetAlone() throws {
        let clear = Instruction.clear(.at("emb", "s"), collection: .set)
        let insert = Instruction.setInsert(.at("emb", "l"), value: .int(9))
        try expect([clear], with: [insert], gives: [clear], [insert])
    }

    @Test func theNewerDecidesOnMembership() throws {
        let insert = Instruction.setInsert(.at("s"), value: .int(9))
        let erase = Instruction.setErase(.at("s"), value: .int(9))
        let other = Instruction.setInsert(.at("s"), value: .int(7))
        try expect([erase], 1, with: [insert, other], 2, gives: [], [insert, other])
        try expect([insert], 1, with: [insert, erase], 2, gives: [], [insert, erase])
        try expect([erase], 1, with: [erase], 2, gives: [], [erase])
        try expect([insert], 1, with: [insert], 2, gives: [], [insert])
    }

    @Test(arguments: [
        (Payload.double(bits: 0), Payload.double(bits: 1 << 63), true),
        (.float(bits: 0), .float(bits: 1 << 31), true),
        (.string("a"), .binary([97]), false),
        (.null, .null, true),
        (.decimal(.of(10, exponent: -1)), .decimal(.of(1, exponent: 0)), true),
        (.decimal(.of(0, exponent: 5)), .decimal(.of(0, exponent: 0, negative: true)), true),
        (.decimal(.of(1, exponent: 0)), .decimal(.of(1, exponent: 0, negative: true)), false),
        (
            .decimal(Decimal128Value(high: 0x7C00 << 48, low: 1)),
            .decimal(Decimal128Value(high: 0xFC00 << 48, low: 2)), true
        ),
        (
            .decimal(Decimal128Value(high: 0x7800 << 48, low: 0)),
            .decimal(Decimal128Value(high: 0xF800 << 48, low: 0)), false
        ),
    ])
    func valuesAreEqualByTypeAndNumber(a: Payload, b: Payload, areEqual: Bool) throws {
        let first = Instruction.setInsert(.at("s"), value: a)
        let second = Instruction.setErase(.at("s"), value: b)
        try expect([first], 1, with: [second], 2, gives: areEqual ? [] : [first], [second])
    }

    /// D13.
    @Test(arguments: [
        (Payload.double(bits: Double.nan.bitPattern), Payload.double(bits: Double.nan.bitPattern)),
        (.double(bits: Double.nan.bitPattern), .float(bits: (-Float.nan).bitPattern)),
        (.int(1), .double(bits: (1.0).bitPattern)), (.int(0), .double(bits: (-0.0).bitPattern)),
        (.int(-3), .float(bits: Float(-3).bitPattern)), (.int(20), .decimal(.of(2, exponent: 1))),
        (.double(bits: (2.0).bitPattern), .decimal(.of(200, exponent: -2))),
        (.int(0), .decimal(.of(0, exponent: 3, negative: true))),
    ])
    func numbersThatAreOneMemberAreEqualOnlyInConvergentMode(a: Payload, b: Payload) throws {
        let first = Instruction.setInsert(.at("s"), value: a)
        let second = Instruction.setErase(.at("s"), value: b)
        try expect([first], 1, with: [second], 2, gives: [], [second], in: [.convergent])
        try expect([first], 1, with: [second], 2, gives: [first], [second], in: [.stockClients])
    }

    @Test(arguments: [
        (Payload.int(1), Payload.double(bits: (1.5).bitPattern)), (.int(.max), .double(bits: 0x1p63.bitPattern)),
        (.int(1), .decimal(.of(1, exponent: 0, negative: true))), (.int(1), .decimal(.of(1, exponent: -1))),
        (.int(1), .bool(true)),
    ])
    func numbersThatAreTwoMembersAreNot(a: Payload, b: Payload) throws {
        let first = Instruction.setInsert(.at("s"), value: a)
        let second = Instruction.setErase(.at("s"), value: b)
        try expect([first], 1, with: [second], 2, gives: [first], [second])
    }

    @Test func linksAreEqualByClassAndKey() throws {
        let link = { (key: Int64, table: String) in
            Payload.link(table: Names.intern(table), key: .int(key))
        }
        let insert = Instruction.setInsert(.at("s"), value: link(1, "Dog"))
        let erase = Instruction.setErase(.at("s"), value: link(1, "Dog"))
        let others: [Instruction] = [
            .setErase(.at("s"), value: link(2, "Dog")), .setErase(.at("s"), value: link(1, "Person")),
        ]
        try expect([insert], 1, with: [erase] + others, 2, gives: [], [erase] + others)
    }

    /// D2.
    @Test func erasedStringsAreComparedByContentOnlyInConvergentMode() throws {
        let early = Instruction.setErase(.at("s"), value: .string("a"))
        let other = Instruction.setErase(.at("s"), value: .string("b"))
        // Two strings of one length at the same offset: the reference takes them for equal.
        try expect([early], 1, with: [other], 2, gives: [early], [other], in: [.convergent])
        try expect([early], 1, with: [other], 2, gives: [], [other], in: [.stockClients])
    }

    @Test func clearingAnElementFollowsItOnlyInConvergentMode() throws {
        let clear = { (index: UInt32) in Instruction.clear(.at("l", .index(index)), collection: .list) }
        for (edit, after) in [(Instruction.insert(0), clear(2)), (.remove(0), clear(0)), (.move(1, 2), clear(2))] {
            try expect([clear(1)], with: [edit], gives: [after], [edit], in: [.convergent])
            try expect([clear(1)], with: [edit], gives: [clear(1)], [edit], in: [.stockClients])
        }
        try expect([clear(1)], with: [.remove(1)], gives: [], [.remove(1)], in: [.convergent])
        try expect([clear(0)], with: [.insert(1)], gives: [clear(0)], [.insert(1)])
    }

    /// D6.
    @Test func aSetAsAMixedValueIsRefusedInConvergentMode() throws {
        let clear = Instruction.clear(.at("any"), collection: .list)
        let set = Instruction.set(.at("any"), .set)
        expectRefusal([clear], with: [set], .impossiblePair, in: [.convergent])
        try expect([clear], 1, with: [set], 2, gives: [], [set], in: [.stockClients])
    }
}

extension Decimal128Value {
    static func of(_ coefficient: UInt64, exponent: Int, negative: Bool = false) -> Decimal128Value {
        Decimal128Value(high: (negative ? 1 << 63 : 0) | UInt64(exponent + 6176) << 49, low: coefficient)
    }
}
