import Changesets
import Merge
import SeededRandom
import TestSupport
import Testing

/// Lists merged by themselves, as a whole and in pairs, come out exactly as operation by operation, reciprocals included.
@Suite struct ListMergeTests {
    /// Two sides' edits of one list, each a changeset of its own.
    private struct Sides {
        var local: [LocalChangeset] = []
        var incoming: [IncomingChangeset] = []

        mutating func addLocal(_ instructions: [Instruction], rank: UInt64) {
            local.append(
                LocalChangeset(
                    version: UInt64(local.count + 1), originTimestamp: rank, originFileIdent: 2,
                    changeset: changeset(instructions)))
        }

        mutating func addIncoming(_ instructions: [Instruction], rank: UInt64, base: UInt64 = 0) {
            incoming.append(
                IncomingChangeset(
                    version: UInt64(incoming.count + 1), lastIntegratedLocalVersion: base, originTimestamp: rank,
                    originFileIdent: 3, changeset: changeset(instructions)))
        }

        func merge(
            _ search: ConflictSearch, _ compatibility: PeerCompatibility = .convergent
        ) -> Result<TransformResult, MergeError> {
            Result { () throws(MergeError) in
                try MergeEngine(compatibility: compatibility, search: search).transform(
                    incoming: incoming, over: local, currentLocalVersion: UInt64(local.count))
            }
        }

        func isExact(_ compatibility: PeerCompatibility = .convergent) -> Bool {
            let exact = merge(.exhaustive, compatibility)
            return merge(.indexedWithWholeLists, compatibility) == exact
                && merge(.indexedWithListPairs, compatibility) == exact
        }
    }

    private static func edits(
        _ count: Int, on list: inout ListModel, marker: Int64, _ random: inout SeededGenerator,
        where isWanted: (Instruction) -> Bool
    ) throws -> [Instruction] {
        try (0..<count).map { number in
            let possible = ListModel.operations(size: UInt32(list.elements.count))(.int(marker + Int64(number)))
            let edit = try #require(possible.filter(isWanted).randomElement(using: &random))
            try list.apply(edit)
            return edit
        }
    }

    private static func isSimple(_ instruction: Instruction) -> Bool {
        switch instruction {
        case .arrayMove, .clear: false
        default: true
        }
    }

    /// How many tests share a loop over everything, so that all cores have a part of it.
    private static let shares = 8

    private static let seeds = seedRanges(20, of: 50)

    /// One run; clocks run forward, as they mostly do, with any interleaving of the two sides.
    @Test(arguments: seeds)
    func insertsErasuresAndAssignmentsComeOutExactly(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            let base = ListModel(size: .random(in: 0...6, using: &random))
            var (left, right) = (base, base)
            let a = try Self.edits(.random(in: 1...16, using: &random), on: &left, marker: 100, &random) {
                Self.isSimple($0)
            }
            let b = try Self.edits(.random(in: 1...16, using: &random), on: &right, marker: 200, &random) {
                Self.isSimple($0)
            }
            var sides = Sides()
            var (mine, theirs) = (a[...], b[...])
            for rank in 1...UInt64(a.count + b.count) {
                if theirs.isEmpty || (!mine.isEmpty && Bool.random(using: &random)) {
                    sides.addLocal([mine.removeFirst()], rank: rank)
                } else {
                    sides.addIncoming([theirs.removeFirst()], rank: rank)
                }
            }
            expectTrue(sides.isExact(), "seed \(seed): \(a) and \(b)")
        }
    }

    /// Several runs, equal times, clocks that jump back, moves and Clears now and then.
    @Test(arguments: seeds)
    func whateverElseHappensComesOutExactly(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            let base = ListModel(size: .random(in: 0...6, using: &random))
            var (left, right) = (base, base)
            let hasMoves = seed % 3 == 0
            let hasClears = seed % 5 == 0
            func isWanted(_ instruction: Instruction) -> Bool {
                switch instruction {
                case .arrayMove: hasMoves
                case .clear: hasClears
                default: true
                }
            }
            var sides = Sides()
            var clock: UInt64 = 20
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                clock = seed % 2 == 0 ? clock + .random(in: 0...2, using: &random) : .random(in: 1...40, using: &random)
                let edits = try Self.edits(
                    .random(in: 1...4, using: &random), on: &left, marker: 100, &random, where: isWanted)
                sides.addLocal(edits, rank: clock)
            }
            clock = 20
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                clock = seed % 2 == 0 ? clock + .random(in: 0...2, using: &random) : .random(in: 1...40, using: &random)
                let edits = try Self.edits(
                    .random(in: 1...4, using: &random), on: &right, marker: 200, &random, where: isWanted)
                sides.addIncoming(edits, rank: clock)
            }
            for compatibility in [PeerCompatibility.convergent, .stockClients] {
                expectTrue(sides.isExact(compatibility), "seed \(seed)")
            }
        }
    }

    /// A peer that integrates some of our entries between its own edits: each run begins with another size.
    @Test(arguments: seeds)
    func laterRunsComeOutExactly(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            var ours = ListModel(size: .random(in: 0...5, using: &random))
            var theirs = ours
            var sides = Sides()
            for number in 0..<Int64(6) {
                let edits = try Self.edits(
                    .random(in: 1...3, using: &random), on: &ours, marker: 100 + number * 10, &random,
                    where: Self.isSimple)
                sides.addLocal(edits, rank: UInt64(number) * 4 + .random(in: 1...3, using: &random))
            }
            var base: UInt64 = 0
            for number in 0..<Int64(4) {
                let edits = try Self.edits(
                    .random(in: 1...3, using: &random), on: &theirs, marker: 200 + number * 10, &random,
                    where: Self.isSimple)
                sides.addIncoming(
                    edits, rank: UInt64(number) * 5 + .random(in: 1...3, using: &random), base: base)
                guard base < 6, Bool.random(using: &random) else { continue }
                // What the peer makes of our next entry is what our side has of it after merging with all of the peer's.
                let result = try sides.merge(.exhaustive).get()
                let entry =
                    result.modifiedLocal.first { $0.version == base + 1 }?.changeset
                    ?? sides.local[Int(base)].changeset
                for instruction in entry.instructions { try theirs.apply(instruction) }
                base += 1
            }
            expectTrue(sides.isExact(), "seed \(seed)")
        }
    }

    /// Every two sequences of up to two edits, in every order of age.
    @Test(arguments: 0...3, 0..<shares)
    func everyPairOfShortHistoriesComesOutExactly(size: UInt32, share: Int) throws {
        func histories(_ marker: Int64) throws -> [[Instruction]] {
            let first = ListModel.operations(size: size)(.int(marker)).filter(Self.isSimple)
            return try first.map { [$0] }
                + first.flatMap { first in
                    var list = ListModel(size: size)
                    try list.apply(first)
                    return ListModel.operations(size: UInt32(list.elements.count))(.int(marker + 1))
                        .filter(Self.isSimple).map { [first, $0] }
                }
        }
        // The ranks of the local side; the incoming side has 2 and 4.
        let ages: [[UInt64]] = [[1, 1], [1, 3], [1, 5], [3, 3], [3, 5], [5, 5]]
        let theirs = try histories(200)
        for (number, a) in try histories(100).enumerated() where number % Self.shares == share {
            for b in theirs {
                for ranks in ages.prefix(b.count == 1 ? 4 : 6) {
                    var sides = Sides()
                    for (edit, rank) in zip(a, ranks) { sides.addLocal([edit], rank: rank) }
                    for (edit, rank) in zip(b, [2, 4] as [UInt64]) { sides.addIncoming([edit], rank: rank) }
                    expectTrue(sides.isExact(), "\(a) of ages \(ranks) and \(b)")
                }
            }
        }
    }

    /// An instruction on the list itself, on the inside of its elements or on its object takes it out of the merge as a
    /// whole.
    @Test(
        arguments: [
            .clear(.at("l"), collection: .list), .set(.at("l"), .null), .erase(1), .eraseColumn("l"),
            .eraseTable("Dog"),
            .move(0, 2), .set(.at("l", 1, "name"), .int(1)), .insert(.at("l", 1, 0), of: 0), .create(1),
            .set(.at("l", "key"), .int(1)), .clear(.at("l", 1), collection: .list), .insert(0, of: 7), .remove(3),
            .addColumn("l", .int, .list),
        ] as [Instruction])
    func instructionsBeyondTheElementsComeOutExactly(instruction: Instruction) {
        let edits: [Instruction] = [.insert(1), .remove(0, of: 4), .assign(1), .insert(3)]
        for compatibility in [PeerCompatibility.convergent, .stockClients] {
            for place in 0...edits.count {
                var sides = Sides()
                sides.addLocal(edits, rank: 1)
                sides.addIncoming(Array(edits[..<place]) + [instruction] + Array(edits[place...]), rank: 2)
                expectTrue(sides.isExact(compatibility), "at \(place)")
                var mirrored = Sides()
                mirrored.addLocal(Array(edits[..<place]) + [instruction] + Array(edits[place...]), rank: 1)
                mirrored.addIncoming(edits, rank: 2)
                expectTrue(mirrored.isExact(compatibility), "mirrored at \(place)")
            }
        }
    }
}
