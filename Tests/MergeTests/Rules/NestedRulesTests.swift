import Changesets
import Merge
import Testing

/// Sections 3.1, 7.1 and 8.3.
@Suite struct NestedRulesTests {
    @Test func assigningAnotherValueDiscardsWhatIsInside() throws {
        let any = FieldPath.at("any")
        let insert = Instruction.insert(.at("any", 0), of: 0)
        let key = Instruction.set(.at("any", "k"), .int(1))
        try expect([.set(any, .int(5))], 1, with: [insert, key], 2, gives: [.set(any, .int(5))], [])
        try expect([.set(any, .list)], 2, with: [insert], 1, gives: [.set(any, .list)], [insert])
        try expect([.set(any, .list)], 1, with: [key], 2, gives: [.set(any, .list)], [])
        try expect([.set(any, .dictionary)], 2, with: [key], 1, gives: [.set(any, .dictionary)], [key])
        try expect([.set(any, .dictionary)], 1, with: [insert], 2, gives: [.set(any, .dictionary)], [])
    }

    @Test func makingAnEmbeddedObjectKeepsWhatIsInside() throws {
        let street = Instruction.set(.at("emb", "street"), .string("S"))
        let make = Instruction.set(.at("emb"), .objectValue)
        let remove = Instruction.set(.at("emb"), .null)
        try expect([make], 2, with: [street], 1, gives: [make], [street])
        try expect([remove], 1, with: [street], 2, gives: [remove], [])
    }

    @Test func erasingAKeyDiscardsWhatIsInside() throws {
        let erase = Instruction.set(.at("d", "k"), .erased)
        let inner = Instruction.set(.at("d", "k", "x"), .int(1))
        let beside = Instruction.set(.at("d", "j", "x"), .int(1))
        try expect([erase], 1, with: [inner, beside], 2, gives: [erase], [beside])
    }

    @Test func aKeyIsNotAnIndex() throws {
        let zero = Instruction.set(.at("any", "k"), .int(1))
        let inner = Instruction.insert(.at("any", 0, 0), of: 0)
        try expect([zero], with: [inner], gives: [zero], [inner])
    }

    @Test func anIncrementMeansThatThereIsNothingInside() throws {
        try expect(
            [.add(.at("any"), 1)], 1, with: [.insert(.at("any", 0), of: 0)], 2, gives: [.add(.at("any"), 1)], [])
    }

    @Test func insertingShiftsPathsThroughTheList() throws {
        let text = { (index: UInt32) in Instruction.set(.at("l", .index(index), "x"), .string("t")) }
        try expect([.insert(0)], with: [text(1)], gives: [.insert(0)], [text(2)])
        try expect([.insert(1)], with: [text(1)], gives: [.insert(1)], [text(2)])
        try expect([.insert(2)], with: [text(1)], gives: [.insert(2)], [text(1)])
    }

    @Test func erasingShiftsOrDiscardsPathsThroughTheList() throws {
        let text = { (index: UInt32) in Instruction.set(.at("l", .index(index), "x"), .string("t")) }
        try expect([.remove(1)], with: [text(1)], gives: [.remove(1)], [])
        try expect([.remove(1)], with: [text(2)], gives: [.remove(1)], [text(1)])
        try expect([.remove(1)], with: [text(0)], gives: [.remove(1)], [text(0)])
    }

    /// D1.
    @Test func movingTakesPathsThroughTheElementAlong() throws {
        let text = { (index: UInt32) in Instruction.set(.at("l", .index(index), "x"), .string("t")) }
        try expect([.move(1, 0)], with: [text(1)], gives: [.move(1, 0)], [text(0)], in: [.convergent])
        try expect([.move(1, 0)], with: [text(0)], gives: [.move(1, 0)], [text(1)], in: [.convergent])
        try expect([.move(0, 2)], with: [text(2)], gives: [.move(0, 2)], [text(1)], in: [.convergent])
        // The reference moves the move: an empty one here, which no peer can apply.
        try expect([.move(1, 0)], with: [text(1)], gives: [.move(0, 0)], [text(1)], in: [.stockClients])
    }

    @Test func listsAtEveryDepthShift() throws {
        let outer = Instruction.insert(.at("l", 0), of: 3)
        let middle = Instruction.insert(.at("l", 1, "k", 0), of: 3)
        let inner = Instruction.set(.at("l", 1, "k", 1, "x"), .int(1))
        try expect(
            [middle, outer], with: [inner], gives: [middle, outer],
            [.set(.at("l", 2, "k", 2, "x"), .int(1))])
    }

    @Test func aListOnOneSideAndADictionaryOnTheOtherAreRefused() {
        expectRefusal(
            [.insert(.at("any", 0), of: 0)], with: [.set(.at("any", "k", "j"), .int(1))], .inconsistentPaths)
    }

    /// The reference aborts the process (D6).
    @Test func aListsElementAndADictionarysKeyAreRefused() {
        let key = Instruction.set(.at("any", "k"), .int(1))
        expectRefusal([.insert(.at("any", 0), of: 0)], with: [key], .impossiblePair)
        expectRefusal([.move(.at("any", 0), to: 1, of: 2)], with: [key], .impossiblePair)
        expectRefusal([.remove(.at("any", 0), of: 1)], with: [key], .impossiblePair)
    }
}
