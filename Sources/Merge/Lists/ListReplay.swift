/// One side of a list while both sides' histories are gone through in the order of their age.
///
/// Elements of this side are looked at through their ranks, which makes "to the left of" a comparison of numbers.
struct ListReplay {
    static let none = UInt32.max

    let history: ListHistory
    /// The ranks of the elements that this side has not erased so far.
    private(set) var living: RankSet
    /// The ranks among these of the inserted elements, and of the base elements that the other side has not erased
    /// either.
    private(set) var inserted: RankSet
    private(set) var common: RankSet
    /// The inserted element that was next to an erased element's right when that was erased. Paths get shorter as they
    /// are followed.
    private var nextInserted: [UInt32]
    /// Where the other side's inserted elements lie among those of this one.
    var marks: MarkSets
    private var stepCount: UInt32 = 0

    /// Each inserted element knows the step that inserted it and the inserted one that was next to its left then; and, to
    /// go that way fast, one much further to the left.
    private struct Birth {
        var step: UInt32
        var left: UInt32
        var farLeft: UInt32
        var depth: UInt32
    }
    private var births: [Birth] = []

    init(_ history: ListHistory, otherInserts: Int) {
        self.history = history
        living = RankSet(capacity: history.count)
        inserted = RankSet(capacity: history.count)
        for element in 0..<history.baseCount { living.insert(Int(history.ranks[element])) }
        common = living
        nextInserted = Array(repeating: Self.none, count: history.count)
        marks = MarkSets(marks: otherInserts, owners: history.count)
        births.reserveCapacity(history.insertCount)
    }

    func rank(_ element: UInt32) -> Int { element == Self.none ? history.count : Int(history.ranks[Int(element)]) }

    func element(_ rank: Int) -> UInt32 { history.order[rank] }

    // MARK: Steps

    mutating func passChange() { stepCount &+= 1 }

    /// The next step inserts an element.
    mutating func insert(_ element: UInt32) {
        let rank = rank(element)
        var birth = Birth(step: stepCount, left: Self.none, farLeft: Self.none, depth: 0)
        if let left = inserted.last(before: rank) {
            let left = self.element(left)
            birth.left = left
            let one = self.birth(left)
            birth.depth = one.depth &+ 1
            // The far element is either one step away or, like the numbers of a skew binary system, two equal strides
            // in one.
            birth.farLeft = left
            if one.farLeft != Self.none {
                let two = self.birth(one.farLeft)
                if two.farLeft != Self.none, one.depth &- two.depth == two.depth &- self.birth(two.farLeft).depth {
                    birth.farLeft = two.farLeft
                }
            }
        }
        births.append(birth)
        inserted.insert(rank)
        living.insert(rank)
        stepCount &+= 1
    }

    private func birth(_ element: UInt32) -> Birth { births[Int(element) - history.baseCount] }

    /// The next step erases an element.
    mutating func erase(_ element: UInt32) {
        let rank = rank(element)
        living.remove(rank)
        if history.isBase(element) { common.remove(rank) } else { inserted.remove(rank) }
        nextInserted[Int(element)] = inserted.first(after: rank).map { self.element($0) } ?? Self.none
        stepCount &+= 1
    }

    /// The other side erases a base element.
    mutating func loseCommon(_ element: UInt32) { common.remove(rank(element)) }

    // MARK: Order

    /// The first living element that is to the right of an erased base element for good, however elements go.
    mutating func firstRight(of erased: UInt32) -> UInt32 {
        func isErased(_ element: UInt32) -> Bool { element != Self.none && !living.contains(rank(element)) }
        var end = erased
        while isErased(end) { end = nextInserted[Int(end)] }
        var element = erased
        while isErased(element) {
            let next = nextInserted[Int(element)]
            nextInserted[Int(element)] = end
            element = next
        }
        return end
    }

    /// Whether an inserted element is to the right of an erased base element for good: it, or one that was there to its
    /// left when it came, or one to the left of that, and so on, came while the base element was there to its left.
    func isRight(_ element: UInt32, of erased: UInt32) -> Bool {
        let end = history.erasedBy[Int(erased)]
        var element = element
        while birth(element).step >= end {
            let birth = birth(element)
            if birth.farLeft != Self.none, self.birth(birth.farLeft).step >= end {
                element = birth.farLeft
            } else if birth.left != Self.none {
                element = birth.left
            } else {
                return false
            }
        }
        return rank(erased) < rank(element)
    }

    /// The next inserted or common element to the right of a rank.
    func firstShared(after rank: Int) -> UInt32 {
        switch (inserted.first(after: rank), common.first(after: rank)) {
        case (let inserted?, let common?): element(min(inserted, common))
        case (let rank?, nil), (nil, let rank?): element(rank)
        case (nil, nil): Self.none
        }
    }
}
