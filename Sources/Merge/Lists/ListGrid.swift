/// Merges two sides' operations on one list by themselves, to what the rules give when every operation meets every other.
///
/// To merge with a sequence is to merge with its parts one after the other. So both sides are cut into stretches, and what comes
/// of it is a grid: each local stretch meets each incoming one, in order. Where neither moves elements nor clears the list,
/// two long stretches are merged as a whole (`ListMerge`), in about the time that it takes to read them. The rest is merged
/// operation by operation, but with the few numbers only that matter here (`ListPairs`).
///
/// ```
///              20,000 appends     move 0 to 3     10,000 appends
/// 20,000 appends  as a whole       in pairs        as a whole
/// ```
///
/// A move is no erasure and insertion: by 8.2 it meets another move of its element, it goes when nothing is left between its
/// two places, and it is in front of the insertions that it comes in front of by another order than they have among each
/// other. So what a move does to the other side is found out pair by pair: `k` moves among `n` operations take `k` times `n`
/// steps of about three nanoseconds.
struct ListGrid {
    /// The bounds from which on one way of merging costs less than another.
    struct Thresholds {
        static let standard = Thresholds(
            pairsPerOperation: 16, pairsPerWhole: 512, pairsPerElement: 32, longStretch: 1_024)
        /// The thresholds that merge stretches as a whole wherever that is possible.
        static let wholes = Thresholds(pairsPerOperation: 0, pairsPerWhole: 0, pairsPerElement: 0, longStretch: 1)
        /// The thresholds that never merge stretches as a whole.
        static let pairs = Thresholds(
            pairsPerOperation: 0, pairsPerWhole: 1 << 40, pairsPerElement: 0, longStretch: 1)

        /// The pairs for each operation from which on a list is merged by itself.
        var pairsPerOperation: Int
        /// The pairs from which on two stretches are merged as a whole: for each operation, and for each element that
        /// the list had.
        var pairsPerWhole: Int
        var pairsPerElement: Int
        /// The length from which on a stretch without moves and Clears is one of its own.
        var longStretch: Int
    }

    private struct Stretch {
        var range: Range<Int>
        /// Whether the stretch has neither moves nor Clears.
        var isPlain: Bool
    }

    /// Longer lists are left to the rules.
    private static let maximumSize: UInt32 = 1 << 30
    /// What is merged as a whole is held in memory, a few dozen bytes for each element.
    private static let maximumWholeSize: UInt32 = 1 << 20

    private var local: [ListOperation] = []
    private var incoming: [ListOperation] = []
    /// How many elements both sides began with, and have after their own operations.
    private let firstSize: UInt32
    private let localSize: UInt32
    private let incomingSize: UInt32
    private let level: UInt32
    private let thresholds: Thresholds
    private let matrix: RuleMatrix
    private let meter: MergeMeter

    /// - Returns: nil if the operations do not follow from each other and one first size, or if a rule does more to them than
    ///   this knows of.
    init?(
        _ list: ListFinder.List, _ sides: ListSides, _ matrix: RuleMatrix, _ thresholds: Thresholds, _ meter: MergeMeter
    ) {
        level = list.level
        self.thresholds = thresholds
        self.matrix = matrix
        self.meter = meter
        local = list.local.map { ListOperation(sides.local[Int($0)], at: $0, level: list.level, sides.steps) }
        incoming = list.incoming.map { ListOperation(sides.incoming[Int($0)], at: $0, level: list.level, sides.steps) }
        guard
            let first = Self.firstSize(local, sides.local, incoming, sides.incoming), first <= Self.maximumSize,
            let localSize = Self.lastSize(local, sides.local, after: first),
            let incomingSize = Self.lastSize(incoming, sides.incoming, after: first)
        else { return nil }
        firstSize = first
        self.localSize = localSize
        self.incomingSize = incomingSize
        // D1: the reference lets paths through an element change the move.
        let all = [local, incoming]
        if !matrix.compatibility.movesCarryNestedPaths, all.contains(where: { $0.contains { $0.kind == .move } }),
            all.contains(where: { $0.contains { $0.kind == .inside } })
        {
            return nil
        }
    }

    /// How many elements both sides began with; nil if they disagree.
    private static func firstSize(
        _ local: [ListOperation], _ ours: [Operation], _ incoming: [ListOperation], _ theirs: [Operation]
    ) -> UInt32? {
        func firstSize(_ side: [ListOperation], _ operations: [Operation]) -> UInt32? {
            for operation in side where operation.kind != .inside {
                return operation.kind == .clear ? nil : operations[Int(operation.position)].priorSize
            }
            return nil
        }
        let mine = firstSize(local, ours)
        let other = firstSize(incoming, theirs)
        if let mine, let other { return mine == other ? mine : nil }
        if let size = mine ?? other { return size }
        // Nobody says: as many as are changed inside.
        let inside = [local, incoming].flatMap { $0.prefix { $0.kind == .inside } }
        guard let last = inside.lazy.map(\.index).max() else { return 0 }
        return last < .max ? last + 1 : nil
    }

    /// How many elements there are in the end; nil if an operation does not follow from those before it.
    private static func lastSize(_ side: [ListOperation], _ operations: [Operation], after first: UInt32) -> UInt32? {
        var size = first
        for operation in side {
            if operation.namesSize, operations[Int(operation.position)].priorSize != size { return nil }
            switch operation.kind {
            case .insert: guard operation.index <= size else { return nil }
            case .move:
                guard operation.index < size, operation.destination < size, operation.index != operation.destination
                else { return nil }
            case .erase, .assign, .inside: guard operation.index < size else { return nil }
            case .clear: break
            }
            size = operation.size(after: size)
        }
        return size
    }

    // MARK: Merging

    mutating func merge(_ sides: inout ListSides) throws(MergeError) {
        let rows = stretches(of: local)
        let columns = stretches(of: incoming)
        var rowSize = firstSize
        for row in rows {
            let nextSize = local[row.range].size(after: rowSize)
            for column in columns {
                // The row and the column are as they are for a peer that has all stretches before them.
                let columnSize = incoming[column.range].size(after: rowSize)
                if row.isPlain, column.isPlain {
                    try mergePlain(row.range, column.range, from: rowSize, &sides)
                } else {
                    try mergePairs(row.range, column.range, &sides)
                }
                rowSize = columnSize
            }
            rowSize = nextSize
        }
        Self.write(local, after: incomingSize, into: &sides.local, at: level, &sides.steps)
        Self.write(incoming, after: localSize, into: &sides.incoming, at: level, &sides.steps)
    }

    private func stretches(of side: [ListOperation]) -> [Stretch] {
        var stretches: [Stretch] = []
        func append(_ range: Range<Int>) {
            guard !range.isEmpty else { return }
            let isLong = range.count >= thresholds.longStretch
            let isPlain = side[range.lowerBound].isPlain && isLong
            if !isPlain, let last = stretches.last, !last.isPlain {
                stretches[stretches.count - 1].range = last.range.lowerBound..<range.upperBound
            } else {
                stretches.append(Stretch(range: range, isPlain: isPlain))
            }
        }
        var start = 0
        for (number, operation) in side.enumerated() where operation.isPlain != side[start].isPlain {
            append(start..<number)
            start = number
        }
        append(start..<side.count)
        return stretches
    }

    /// - Parameter size: of the list that both stretches begin with.
    private mutating func mergePlain(
        _ rows: Range<Int>, _ columns: Range<Int>, from size: UInt32, _ sides: inout ListSides
    ) throws(MergeError) {
        let live = (local[rows].count(where: \.isLive), incoming[columns].count(where: \.isLive))
        let cost = thresholds.pairsPerWhole * (live.0 + live.1) + thresholds.pairsPerElement * Int(size)
        guard live.0 > 0, live.1 > 0, live.0 * live.1 >= cost, size <= Self.maximumWholeSize else {
            return try mergePairs(rows, columns, &sides)
        }
        if try mergeWhole(rows, columns, from: size, &sides) { return }
        // Perhaps the ages of parts separate each other.
        guard rows.count > 1 || columns.count > 1 else { return try mergePairs(rows, columns, &sides) }
        if rows.count >= columns.count {
            let middle = rows.lowerBound + rows.count / 2
            let between = local[rows.lowerBound..<middle].size(after: size)
            try mergePlain(rows.lowerBound..<middle, columns, from: size, &sides)
            try mergePlain(middle..<rows.upperBound, columns, from: between, &sides)
        } else {
            let middle = columns.lowerBound + columns.count / 2
            let between = incoming[columns.lowerBound..<middle].size(after: size)
            try mergePlain(rows, columns.lowerBound..<middle, from: size, &sides)
            try mergePlain(rows, middle..<columns.upperBound, from: between, &sides)
        }
    }

    /// - Returns: false, and then nothing is changed, if that is not possible.
    private mutating func mergeWhole(
        _ rows: Range<Int>, _ columns: Range<Int>, from size: UInt32, _ sides: inout ListSides
    ) throws(MergeError) -> Bool {
        var mine = local[rows].filter(\.isLive)
        var others = incoming[columns].filter(\.isLive)
        try meter.take(MergeMeter.stepsPerWhole * (mine.count + others.count) + MergeMeter.stepsPerElement * Int(size))
        guard var merge = ListMerge(local: mine, incoming: others, baseCount: Int(size), level: level),
            try merge.merge(&mine, &others, &sides, matrix, meter)
        else { return false }
        Self.take(mine, into: &local[rows])
        Self.take(others, into: &incoming[columns])
        return true
    }

    private mutating func mergePairs(
        _ rows: Range<Int>, _ columns: Range<Int>, _ sides: inout ListSides
    ) throws(MergeError) {
        var others = incoming[columns].filter(\.isLive)
        try ListPairs(level: level, matrix: matrix).merge(&local[rows], &others, &sides, meter)
        Self.take(others, into: &incoming[columns])
    }

    /// Puts what has become of the live operations of a stretch in their places; those that are missing have been discarded.
    private static func take(_ merged: [ListOperation], into stretch: inout ArraySlice<ListOperation>) {
        var next = 0
        for number in stretch.indices where stretch[number].isLive {
            if next < merged.count, merged[next].position == stretch[number].position {
                stretch[number] = merged[next]
                next += 1
            } else {
                stretch[number].discard()
            }
        }
    }

    // MARK: Results

    private static func write(
        _ side: [ListOperation], after first: UInt32, into operations: inout [Operation], at level: UInt32,
        _ steps: inout PathSteps
    ) {
        var size = first
        for operation in side {
            let position = Int(operation.position)
            guard operation.isLive else {
                operations[position].discard()
                continue
            }
            if operation.kind != .clear {
                operations[position].setIndex(operation.index, at: level, &steps)
                if operation.kind == .move { operations[position].destination = operation.destination }
                if operation.namesSize { operations[position].priorSize = size }
                // Perhaps it is as it was: whoever asks compares.
                operations[position].flags.insert(.changed)
            }
            size = operation.size(after: size)
        }
    }
}

extension ListOperation {
    fileprivate var isPlain: Bool { kind != .move && kind != .clear }
}
