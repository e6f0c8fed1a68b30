/// Merges all inserts, erasures, assignments and changes inside of elements that two sides have made in one list, in about the
/// time that it takes to read them, to the very result that the rules of section 8.2 give when every operation meets every
/// other.
///
/// **What the rules decide.** Let `S(i, j)` be the list after `i` local and `j` incoming operations. Local operation
/// `i` and incoming operation `j` meet on `S(i-1, j-1)`. Erasures and assignments are about elements; if both are about
/// one element, rules say what is left of the two, and that takes those two only. Of two inserts the one further to the
/// left stays; only if nothing is left of `S(i-1, j-1)` between their places, their ages decide: the older comes first. So
/// the result is known once each local inserted element is known to be to the left or to the right of each incoming one: an
/// operation's final index is its own, plus the other side's inserted elements to the left that live in the end, minus the
/// base elements there that the other side erases.
///
/// **Going by age.** If each insert's age separates the other side's inserts into earlier older ones and later newer ones
/// (clocks that run forward do), both histories can be gone through in one order, oldest first. An element `x` that comes
/// then is newer than all that the other side has inserted so far. Coming between `a` and `b` of its own side, it goes to
/// the right of all of the other side's elements `y` up to `b`, because `y` is to its right only if something that was there
/// for both is between them, which lies at or behind `b`. Everything that the other side inserts later is newer, so it goes
/// to the right of `x` unless something between the two was there for both. So `x` stays right behind what was to its left:
/// its *owner*, an element of the other side. Nothing that comes moves it, and if its owner goes, it falls to the owner's left
/// neighbour, as one can see from the same condition.
///
/// **Base elements that one side has erased.** Such an element `v` separates only those for which it was there. An
/// element `x` that its eraser inserted is *for good* to the right of `v` if it came while `v` was there to its left, or if
/// an inserted element for which the same holds was there to the left of `x` when `x` came. Only these are
/// kept apart from what the other side, which still has `v`, inserts to the left of it. For all others `v` is not there: so an
/// insert in front of `v` looks for the first element for good to the right of `v` or of the erased ones behind it, and
/// whoever loses the owner passes by those `v` to the right of which it is not for good.
///
/// ```
/// base [p q]     A@1: erase 1 -> [p], insert a at 1 -> [p a]    (a came when q was gone)
///                B@2: insert b at 1 -> [p b q]                  between b and a there was only q: the older a comes first
/// merged [p a b]
/// ```
///
/// Histories whose ages do not separate each other are merged in parts, or operation by operation (`ListGrid`); so are
/// those where passing by erased elements takes more steps than that.
struct ListMerge {
    private var local: ListReplay
    private var incoming: ListReplay
    /// How many incoming inserts are older than each local insert.
    private let olderIncoming: [Int]
    /// The place in the operations' paths of the step that is the index.
    private let level: UInt32
    /// How many more erased elements may be passed by.
    private var patience: Int

    private static let none = ListReplay.none

    /// - Parameter baseCount: how many elements both sides began with.
    /// - Returns: nil if the operations do not follow from each other, or if their ages do not separate each other.
    init?(local: [ListOperation], incoming: [ListOperation], baseCount: Int, level: UInt32) {
        guard let olderIncoming = Self.separation(local, incoming),
            let localHistory = ListHistory(local, baseCount: baseCount),
            let incomingHistory = ListHistory(incoming, baseCount: baseCount)
        else { return nil }
        self.olderIncoming = olderIncoming
        self.level = level
        self.local = ListReplay(localHistory, otherInserts: incomingHistory.insertCount)
        self.incoming = ListReplay(incomingHistory, otherInserts: localHistory.insertCount)
        patience = 64 * (local.count + incoming.count)
    }

    /// Returns for each local insert how many incoming ones are older; nil unless they are the first ones and never
    /// fewer than before.
    private static func separation(_ local: [ListOperation], _ incoming: [ListOperation]) -> [Int]? {
        let ranks = incoming.lazy.filter { $0.kind == .insert }.map(\.rank)
        var newestBefore: [UInt32] = []
        for rank in ranks { newestBefore.append(max(rank, newestBefore.last ?? 0)) }
        var oldestAfter: [UInt32] = []
        for rank in ranks.reversed() { oldestAfter.append(min(rank, oldestAfter.last ?? .max)) }
        oldestAfter.reverse()

        var older: [Int] = []
        for insert in local where insert.kind == .insert {
            var count = older.last ?? 0
            while count < newestBefore.count, newestBefore[count] < insert.rank { count += 1 }
            if count > 0, newestBefore[count - 1] >= insert.rank { return nil }
            if count < oldestAfter.count, oldestAfter[count] < insert.rank { return nil }
            older.append(count)
        }
        return older
    }

    /// - Returns: false, and then nothing is changed, if it has taken too many steps.
    mutating func merge(
        _ mine: inout [ListOperation], _ others: inout [ListOperation], _ sides: inout ListSides, _ matrix: RuleMatrix,
        _ meter: MergeMeter
    ) throws(MergeError) -> Bool {
        guard replay() else { return false }
        var elements = EqualElements(local.history, incoming.history, level: level)
        try elements.merge(&sides, matrix, meter)
        Self.write(local.history, of: sides.local, into: &mine, among: &incoming)
        Self.write(incoming.history, of: sides.incoming, into: &others, among: &local)
        return true
    }

    // MARK: Order

    private mutating func replay() -> Bool {
        var localSteps = local.history.steps.makeIterator()
        var incomingSteps = incoming.history.steps.makeIterator()
        var incomingInserts = 0
        var next = incomingSteps.next()
        var localInserts = 0
        while let step = localSteps.next() {
            if step.kind == .insert {
                while incomingInserts < olderIncoming[localInserts], let older = next {
                    if older.kind == .insert { incomingInserts += 1 }
                    Self.pass(older, on: &incoming, beside: &local, &patience)
                    next = incomingSteps.next()
                }
                localInserts += 1
            }
            Self.pass(step, on: &local, beside: &incoming, &patience)
            if patience < 0 { return false }
        }
        while let newer = next {
            Self.pass(newer, on: &incoming, beside: &local, &patience)
            if patience < 0 { return false }
            next = incomingSteps.next()
        }
        return true
    }

    private static func pass(
        _ step: ListHistory.Step, on side: inout ListReplay, beside other: inout ListReplay, _ patience: inout Int
    ) {
        switch step.kind {
        case .insert:
            let limit = limit(of: step.element, on: &side, beside: &other, &patience)
            side.insert(step.element)
            let owner = owner(of: step.element, on: side, upTo: limit, beside: other, &patience)
            other.marks.put(step.element &- UInt32(side.history.baseCount), behind: owner)
        case .erase:
            side.erase(step.element)
            if side.history.isBase(step.element) { other.loseCommon(step.element) }
            disown(step.element, on: &side, beside: other, &patience)
        case .assign, .inside, .move, .clear:
            side.passChange()
        }
    }

    /// The rank on the other side up to which that side's inserted elements are to the left of a new element.
    private static func limit(
        of element: UInt32, on side: inout ListReplay, beside other: inout ListReplay, _ patience: inout Int
    ) -> Int {
        guard let next = side.living.first(after: side.rank(element)) else { return other.history.count }
        var neighbour = side.element(next)
        guard side.history.isBase(neighbour), !side.common.contains(next) else {
            return Self.rank(before: neighbour, on: side, beside: &other)
        }
        // The next ones to the right have been erased by the other side.
        let shared = side.firstShared(after: next)
        let end = side.rank(shared)
        var limit = shared == none ? other.history.count : Self.rank(before: shared, on: side, beside: &other)
        var rank = next
        while rank < end {
            patience -= 1
            neighbour = side.element(rank)
            limit = min(limit, other.rank(other.firstRight(of: neighbour)) - 1)
            guard patience >= 0, let following = side.living.first(after: rank) else { break }
            rank = following
        }
        return limit
    }

    /// The rank on the other side up to which its elements are to the left of one that is there for both.
    private static func rank(
        before element: UInt32, on side: ListReplay, beside other: inout ListReplay
    ) -> Int {
        if side.history.isBase(element) { return other.rank(element) - 1 }
        let owner = other.marks.owner(of: element &- UInt32(side.history.baseCount))
        return owner == none ? -1 : other.rank(owner)
    }

    /// The last of the other side's elements that is to the left of a new one.
    private static func owner(
        of element: UInt32, on side: ListReplay, upTo limit: Int, beside other: ListReplay, _ patience: inout Int
    ) -> UInt32 {
        var last = other.inserted.last(before: limit + 1) ?? -1
        if let common = side.common.last(before: side.rank(element)) {
            last = max(last, other.rank(side.element(common)))
        }
        // To the right of it there may be some that this side has erased.
        var rank = last
        while let next = other.living.first(after: rank), !other.inserted.contains(next), !other.common.contains(next) {
            patience -= 1
            if patience < 0 { break }
            if side.isRight(element, of: other.element(next)) { last = next }
            rank = next
        }
        return last < 0 ? none : other.element(last)
    }

    /// Gives what an element owned that has been erased to those that are now next to the left.
    private static func disown(
        _ element: UInt32, on side: inout ListReplay, beside other: ListReplay, _ patience: inout Int
    ) {
        guard side.marks.hasMarks(element) else { return }
        var rank = side.rank(element)
        var homeless: [UInt32]?
        while true {
            let next = side.living.last(before: rank)
            let heir = next.map { side.element($0) } ?? none
            guard let left = next, !side.inserted.contains(left), !side.common.contains(left) else {
                if let homeless {
                    for mark in homeless { side.marks.put(mark, behind: heir) }
                } else {
                    side.marks.move(from: element, to: heir)
                }
                return
            }
            // Only those that are to the right of it for good stay there.
            let marks = homeless ?? side.marks.take(from: element)
            patience -= marks.count
            var rest: [UInt32] = []
            for mark in marks {
                if other.isRight(mark &+ UInt32(other.history.baseCount), of: heir) {
                    side.marks.put(mark, behind: heir)
                } else {
                    rest.append(mark)
                }
            }
            if rest.isEmpty { return }
            homeless = rest
            rank = left
        }
    }

    // MARK: Results

    private static func write(
        _ history: ListHistory, of side: [Operation], into operations: inout [ListOperation],
        among other: inout ListReplay
    ) {
        // The other side's inserted elements that live in the end, up to each rank.
        var insertedUpTo: [UInt32] = []
        insertedUpTo.reserveCapacity(other.history.count)
        var inserted: UInt32 = 0
        for element in other.history.order {
            if !other.history.isBase(element), !other.history.isErased(element) { inserted &+= 1 }
            insertedUpTo.append(inserted)
        }
        // The base elements that this side still has and the other does not have in the end.
        var lost = PrefixCounts(count: history.count)
        for element in 0..<UInt32(history.baseCount) where other.history.isErased(element) {
            lost.add(1, at: Int(history.ranks[Int(element)]))
        }
        for (number, step) in history.steps.enumerated() {
            let isBase = history.isBase(step.element)
            let rank = Int(history.ranks[Int(step.element)])
            if side[Int(step.position)].isLive {
                let left =
                    isBase ? step.element : other.marks.owner(of: step.element &- UInt32(history.baseCount))
                let before = left == none ? 0 : insertedUpTo[other.rank(left)]
                operations[number].index = step.index &+ before &- lost.sum(before: rank)
            } else {
                operations[number].discard()
            }
            if step.kind == .erase, isBase, other.history.isErased(step.element) { lost.add(-1, at: rank) }
        }
    }
}
