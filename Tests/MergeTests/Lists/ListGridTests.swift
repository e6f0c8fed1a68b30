import Changesets
import Merge
import SeededRandom
import TestSupport
import Testing

/// Long and adversarial histories of one list come out exactly as operation by operation, and take about as many steps as
/// they should.
@Suite struct ListGridTests {
    private struct Sides {
        var local: [LocalChangeset] = []
        var incoming: [IncomingChangeset] = []

        init(_ ours: [Instruction], _ theirs: [Instruction], ranks: (Int) -> (ours: UInt64, theirs: UInt64)) {
            for (number, edit) in ours.enumerated() {
                local.append(
                    LocalChangeset(
                        version: UInt64(number + 1), originTimestamp: ranks(number).ours, originFileIdent: 2,
                        changeset: changeset([edit])))
            }
            for (number, edit) in theirs.enumerated() {
                incoming.append(
                    IncomingChangeset(
                        version: UInt64(number + 1), lastIntegratedLocalVersion: 0,
                        originTimestamp: ranks(number).theirs, originFileIdent: 3, changeset: changeset([edit])))
            }
        }

        /// Clocks that run forward, side by side.
        init(_ ours: [Instruction], _ theirs: [Instruction]) {
            self.init(ours, theirs) { (UInt64($0) * 2, UInt64($0) * 2 + 1) }
        }

        func merge(
            _ search: ConflictSearch, _ meter: MergeMeter = MergeMeter()
        ) -> Result<TransformResult, MergeError> {
            Result { () throws(MergeError) in
                try MergeEngine(search: search).transform(
                    incoming: incoming, over: local, currentLocalVersion: UInt64(local.count), meter: meter)
            }
        }

        /// How many steps the merge takes.
        func steps() throws -> UInt64 {
            let meter = MergeMeter()
            _ = try merge(.indexed, meter).get()
            return meter.steps
        }

        /// The ways that give something else than the rules pair by pair do.
        func inexact() throws -> [ConflictSearch] {
            let exact = merge(.exhaustive)
            _ = try exact.get()
            return ConflictSearch.every.filter { merge($0) != exact }
        }
    }

    /// How often each kind of edit is made.
    private struct Weights {
        var insert = 4
        var erase = 3
        var assign = 2
        var move = 3
        var clear = 0
    }

    private static func edits(
        _ count: Int, size first: UInt32, _ weights: Weights, _ random: inout SeededGenerator
    ) -> [Instruction] {
        var size = first
        return (0..<count).map { number in
            var choice = Int.random(
                in: 0..<(weights.insert + weights.erase + weights.assign + weights.move + weights.clear),
                using: &random)
            func isNext(_ weight: Int) -> Bool {
                defer { choice -= weight }
                return choice >= 0 && choice < weight
            }
            let (erases, assigns, moves, clears) = (
                isNext(weights.erase), isNext(weights.assign), isNext(weights.move), isNext(weights.clear)
            )
            if erases, size > 0 {
                defer { size -= 1 }
                return .remove(.random(in: 0..<size, using: &random), of: size)
            }
            if assigns, size > 0 {
                return .assign(.random(in: 0..<size, using: &random), .int(Int64(number)), of: size)
            }
            if moves, size > 1 {
                let from = UInt32.random(in: 0..<size, using: &random)
                return .move(from, (from + .random(in: 1..<size, using: &random)) % size, of: size)
            }
            if clears {
                size = 0
                return .clear(.at("l"), collection: .list)
            }
            defer { size += 1 }
            return .insert(.random(in: 0...size, using: &random), .int(Int64(number)), of: size)
        }
    }

    /// How many tests share a loop over everything, so that all cores have a part of it.
    private static let shares = 8

    private static func appends(_ count: Int, to size: UInt32 = 10) -> [Instruction] {
        (0..<UInt32(count)).map { .insert(size + $0, of: size + $0) }
    }

    @Test(arguments: seedRanges(20, of: 15))
    func longHistoriesComeOutExactly(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            let size = UInt32.random(in: 0...12, using: &random)
            let weights = [
                Weights(), Weights(move: 1), Weights(move: 20), Weights(clear: 1),
                Weights(insert: 1, erase: 0, assign: 1, move: 6), Weights(insert: 9, erase: 0, assign: 0, move: 1),
            ]
            let ours = Self.edits(
                .random(in: 30...90, using: &random), size: size, weights[random.below(6)], &random)
            let theirs = Self.edits(
                .random(in: 30...90, using: &random), size: size, weights[random.below(6)], &random)
            var clocks = random
            let sides =
                switch seed % 3 {
                case 0: Sides(ours, theirs)
                // One side has been offline long before the other.
                case 1: Sides(ours, theirs) { (UInt64($0), 1_000 + UInt64($0)) }
                // Clocks that say anything.
                default:
                    Sides(ours, theirs) { _ in
                        (.random(in: 1...50, using: &clocks), .random(in: 1...50, using: &clocks))
                    }
                }
            try expectEqual(sides.inexact(), [], "seed \(seed)")
        }
    }

    /// Sets of ranks are kept in words of 64 bits, and words of words.
    @Test(arguments: [52, 53, 54, 55, 56, 4_084, 4_085, 4_086, 4_087])
    func listsAroundTheLengthOfAWordComeOutExactly(count: Int) throws {
        for ages in [(0, 10_000), (10_000, 0)] as [(UInt64, UInt64)] {
            let sides = Sides(Self.appends(3), Self.appends(count)) { (UInt64($0) + ages.0, UInt64($0) + ages.1) }
            try expectEqual(sides.inexact(), [], "ages \(ages)")
        }
    }

    /// Two histories that do the same over and over: where an element is depends on everything before.
    @Test(arguments: [
        ([Instruction.move(0, 1, of: 4), .move(1, 0, of: 4)], [Instruction.move(2, 3, of: 4), .move(3, 2, of: 4)]),
        ([.move(0, 1, of: 4), .move(1, 0, of: 4)], [.move(0, 1, of: 4), .move(1, 0, of: 4)]),
        ([.move(0, 3, of: 4)], [.move(3, 0, of: 4)]),
        ([.move(0, 1, of: 2), .move(1, 0, of: 2)], [.insert(1, of: 2), .remove(0, of: 3)]),
        (
            [.insert(1, of: 3), .move(1, 3, of: 4), .remove(3, of: 4)],
            [.move(0, 2, of: 3), .insert(3, of: 3), .remove(3, of: 4)]
        ),
        (
            [.clear(.at("l"), collection: .list), .insert(0, of: 0), .insert(1, of: 1), .insert(2, of: 2)],
            [.move(1, 2, of: 3)]
        ),
    ])
    func repeatedEditsComeOutExactly(ours: [Instruction], theirs: [Instruction]) throws {
        func repeated(_ edits: [Instruction]) -> [Instruction] { (0..<80).map { edits[$0 % edits.count] } }
        for shift in [0, 1, 40, 1_000] as [UInt64] {
            let sides = Sides(repeated(ours), repeated(theirs)) { (UInt64($0) * 2 + shift, UInt64($0) * 2 + 1) }
            try expectEqual(sides.inexact(), [], "shift \(shift)")
        }
        let falling = Sides(repeated(ours), repeated(theirs)) { (1_000 - UInt64($0), 1_000 - UInt64($0)) }
        try expectEqual(falling.inexact(), [])
    }

    /// Every pair of up to two edits, moves and Clears among them, in every order of age.
    @Test(arguments: 0...2, 0..<shares)
    func everyPairOfShortHistoriesComesOutExactly(size: UInt32, share: Int) throws {
        func histories(_ marker: Int64) throws -> [[Instruction]] {
            let first = ListModel.operations(size: size)(.int(marker))
            return try first.map { [$0] }
                + first.flatMap { first in
                    var list = ListModel(size: size)
                    try list.apply(first)
                    return ListModel.operations(size: UInt32(list.elements.count))(.int(marker + 1)).map {
                        [first, $0]
                    }
                }
        }
        let theirs = try histories(200)
        for (number, a) in try histories(100).enumerated() where number % Self.shares == share {
            for b in theirs {
                for ages in [[1, 1], [1, 3], [3, 3], [3, 5], [5, 5]] as [[UInt64]] {
                    let sides = Sides(a, b) { (ages[$0], [2, 4][$0]) }
                    try expectEqual(sides.inexact(), [], "\(a) of ages \(ages) and \(b)")
                }
            }
        }
    }

    // MARK: Work

    /// One move costs no more than to shift the other side's operations once.
    @Test(arguments: [0, 1, 2]) func aMoveAmongAppendsTakesStepsInProportion(place: Int) throws {
        func steps(_ count: Int) throws -> UInt64 {
            var ours = Self.appends(count)
            let index = count / 2 * place
            ours.insert(.move(0, 3, of: 10 + UInt32(index)), at: index)
            return try Sides(ours, Self.appends(count)).steps()
        }
        let few = try steps(4_000)
        let many = try steps(8_000)
        expectTrue(many < few * 5 / 2, "\(few) steps for 4,000, \(many) for 8,000")
        expectTrue(many < 8_000 * 2_500)
    }

    @Test func listsThatAreClearedTakeStepsInProportion() throws {
        func steps(_ count: Int) throws -> UInt64 {
            let clear = Instruction.clear(.at("l"), collection: .list)
            return try Sides(
                Self.appends(count) + [clear] + Self.appends(count, to: 0), Self.appends(count)
            ).steps()
        }
        let few = try steps(4_000)
        let many = try steps(8_000)
        expectTrue(many < few * 5 / 2, "\(few) steps for 4,000, \(many) for 8,000")
    }

    /// A clock that was turned back once.
    @Test func agesThatSeparateInPartsTakeStepsInProportion() throws {
        func steps(_ count: Int) throws -> UInt64 {
            try Sides(Self.appends(count), Self.appends(count)) { number in
                (UInt64(number < count / 2 ? count + number : number), UInt64(number) + 1)
            }.steps()
        }
        let few = try steps(8_000)
        let many = try steps(16_000)
        expectTrue(many < few * 3, "\(few) steps for 8,000, \(many) for 16,000")
    }

    /// What moves do to each other is found out pair by pair, at one step a pair.
    @Test func movesOfOneShortListTakeAStepForEachPair() throws {
        let count = 2_000
        let ours = (0..<count).map { $0 % 2 == 0 ? Instruction.move(0, 1, of: 4) : .move(1, 0, of: 4) }
        let theirs = (0..<count).map { $0 % 2 == 0 ? Instruction.move(2, 3, of: 4) : .move(3, 2, of: 4) }
        try expectTrue(Sides(ours, theirs).steps() < UInt64(count * count + count * 600))
        // Two moves of one element leave one, so that none is met twice.
        try expectTrue(Sides(ours, ours).steps() < UInt64(count * 600))
    }

    @Test func aMergeEndsWhereItHasTakenEnough() throws {
        let sides = Sides(Self.appends(200), Self.appends(200))
        let steps = try sides.steps()
        let enough = MergeMeter(limit: steps)
        #expect(throws: Never.self) { try sides.merge(.indexed, enough).get() }
        expectEqual(enough.steps, steps)
        let error = #expect(throws: MergeError.self) { try sides.merge(.indexed, MergeMeter(limit: steps - 1)).get() }
        expectEqual(error?.code, .budgetExceeded)
    }

    @Test func aMergeEndsWithItsTask() async throws {
        let count = 4_000
        let ours = (0..<count).map { $0 % 2 == 0 ? Instruction.move(0, 1, of: 4) : .move(1, 0, of: 4) }
        let theirs = (0..<count).map { $0 % 2 == 0 ? Instruction.move(2, 3, of: 4) : .move(3, 2, of: 4) }
        let sides = Sides(ours, theirs)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return sides.merge(.indexed)
        }
        let error = await #expect(throws: MergeError.self) { try await task.value.get() }
        expectEqual(error?.code, .cancelled)
    }
}
