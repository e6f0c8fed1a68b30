import Changesets
import Merge
import SeededRandom
import TestSupport
import Testing

/// Section 8.2.
@Suite struct ListRulesTests {
    /// Examples on `[p q r]`: A has rank 1 and B rank 2.
    @Test func theSpecifiedExamplesHold() throws {
        try expect([.insert(1)], with: [.insert(1)], gives: [.insert(1, of: 4)], [.insert(2, of: 4)])
        try expect([.insert(0)], with: [.assign(2)], gives: [.insert(0)], [.assign(3, of: 4)])
        try expect([.remove(1)], with: [.assign(1)], gives: [.remove(1)], [])
        try expect([.remove(0)], with: [.insert(1)], gives: [.remove(0, of: 4)], [.insert(0, of: 2)])
        try expect([.remove(1)], with: [.insert(1)], gives: [.remove(2, of: 4)], [.insert(1, of: 2)])
        try expect([.remove(2)], with: [.remove(2)], gives: [], [])
        try expect([.move(0, 2)], with: [.insert(3)], gives: [.move(0, 3, of: 4)], [.insert(2)])
        try expect([.move(0, 2)], 2, with: [.insert(3)], 1, gives: [.move(0, 2, of: 4)], [.insert(3)])
        try expect([.move(0, 2)], with: [.move(1, 2)], gives: [.move(0, 1)], [.move(0, 2)])
        try expect([.move(0, 2)], with: [.remove(0)], gives: [], [.remove(2)])
        try expect([.move(0, 2)], with: [.move(0, 1)], gives: [], [.move(2, 1)])
        try expect([.move(0, 1)], with: [.assign(0)], gives: [.move(0, 1)], [.assign(1)])
        try expect([.move(0, 2)], with: [.move(0, 2)], gives: [], [])
    }

    @Test func sizesHaveToAgree() {
        expectRefusal([.insert(0)], with: [.insert(0, of: 4)], .listMismatch)
        expectRefusal([.insert(0)], with: [.assign(0, of: 4)], .listMismatch)
        expectRefusal([.insert(0)], with: [.remove(0, of: 4)], .listMismatch)
        expectRefusal([.remove(0)], with: [.remove(0, of: 4)], .listMismatch)
        expectRefusal([.remove(0)], with: [.assign(0, of: 4)], .listMismatch)
        expectRefusal([.remove(0)], with: [.move(0, 1, of: 4)], .listMismatch)
        expectRefusal([.move(0, 1)], with: [.move(1, 2, of: 4)], .listMismatch)
    }

    @Test func indexesHaveToBeInside() {
        expectRefusal([.insert(4)], with: [.assign(0)], .listMismatch)
        expectRefusal([.insert(0)], with: [.assign(3)], .listMismatch)
        expectRefusal([.remove(3)], with: [.insert(0)], .listMismatch)
        expectRefusal([.remove(0)], with: [.insert(4)], .listMismatch)
        expectRefusal([.remove(3)], with: [.remove(0)], .listMismatch)
        expectRefusal([.remove(3)], with: [.assign(0)], .listMismatch)
        expectRefusal([.move(3, 0)], with: [.assign(0)], .listMismatch)
        expectRefusal([.move(0, 3)], with: [.move(1, 0)], .listMismatch)
        expectRefusal([.move(3, 0)], with: [.remove(0)], .listMismatch)
    }

    @Test func theLargestNumbersDoNotTrap() throws {
        let largest = UInt32.max
        let edits: [Instruction] = [
            .insert(largest, of: largest), .assign(largest - 1, of: largest), .remove(largest - 1, of: largest),
            .move(largest - 1, largest - 2, of: largest), .move(largest - 2, largest, of: largest),
            .insert(0, of: largest), .set(.at("l", .index(largest), "x"), .int(1)),
        ]
        for a in edits {
            for b in edits { _ = try? merge([a], rank: 1, with: [b], rank: 2) }
        }
    }

    @Test func differentListsDoNotMeet() throws {
        try expect(
            [.insert(0)], with: [.insert(.at("any", 0), of: 7)], gives: [.insert(0)], [.insert(.at("any", 0), of: 7)])
        try expect(
            [.insert(.at("l", 0, "k", 0), of: 1)], with: [.insert(.at("l", 1, "k", 0), of: 2)],
            gives: [.insert(.at("l", 0, "k", 0), of: 1)], [.insert(.at("l", 1, "k", 0), of: 2)])
    }

    /// Every pair of operations on lists of up to four elements, in both orders of rank: whoever applies which first,
    /// the lists are equal, every size is right, and no operation is out of range.
    @Test(arguments: 0...4)
    func everyPairOfOperationsConverges(size: UInt32) throws {
        let operations = ListModel.operations(size: size)
        for a in operations(.int(100)) {
            for b in operations(.int(200)) {
                for (rankA, rankB) in [(1, 2), (2, 1)] as [(UInt64, UInt64)] {
                    let merged = try merge([a], rank: rankA, with: [b], rank: rankB)
                    var left = ListModel(size: size)
                    var right = left
                    for edit in [a] + merged.b { try left.apply(edit) }
                    for edit in [b] + merged.a { try right.apply(edit) }
                    expectEqual(left, right, "\(a) and \(b)")
                }
            }
        }
    }

    @Test(arguments: 0..<40)
    func sequencesOfOperationsConverge(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let size = UInt32.random(in: 0...4, using: &random)
            var left = ListModel(size: size)
            var right = left
            let a = try left.randomEdits(.random(in: 1...4, using: &random), marker: 100, &random)
            let b = try right.randomEdits(.random(in: 1...4, using: &random), marker: 200, &random)
            let merged = try merge(a, rank: Bool.random(using: &random) ? 1 : 3, with: b, rank: 2)
            for edit in merged.b { try left.apply(edit) }
            for edit in merged.a { try right.apply(edit) }
            expectEqual(left, right, "seed \(seed): \(a) and \(b)")
        }
    }
}
