/// Where each element that one side has inserted lies among the elements of the other: behind which of them, its
/// *owner*. When an owner goes, all that it owned get another one at once.
struct MarkSets {
    static let none = UInt32.max

    private struct Set {
        /// Another set that this one has become part of.
        var partOf = MarkSets.none
        /// An element of the other side, or none for the list's front.
        var owner: UInt32
        var first = MarkSets.none
        var last = MarkSets.none
    }

    private var sets: [Set] = []
    /// The set that each mark was put in, and the next mark of the same set, by mark.
    private var homes: [UInt32]
    private var following: [UInt32]
    /// The set of each owner, by owner; the front comes last.
    private var setOfOwner: [UInt32]

    init(marks: Int, owners: Int) {
        homes = Array(repeating: Self.none, count: marks)
        following = Array(repeating: Self.none, count: marks)
        setOfOwner = Array(repeating: Self.none, count: owners + 1)
    }

    private func slot(_ owner: UInt32) -> Int { owner == Self.none ? setOfOwner.count - 1 : Int(owner) }

    mutating func owner(of mark: UInt32) -> UInt32 {
        var root = homes[Int(mark)]
        while sets[Int(root)].partOf != Self.none { root = sets[Int(root)].partOf }
        var set = homes[Int(mark)]
        while set != root {
            let next = sets[Int(set)].partOf
            sets[Int(set)].partOf = root
            set = next
        }
        homes[Int(mark)] = root
        return sets[Int(root)].owner
    }

    /// Gives a mark an owner; it has to be new, or to come from `take`.
    mutating func put(_ mark: UInt32, behind owner: UInt32) {
        let slot = slot(owner)
        if setOfOwner[slot] == Self.none {
            setOfOwner[slot] = UInt32(truncatingIfNeeded: sets.count)
            sets.append(Set(owner: owner))
        }
        let set = setOfOwner[slot]
        homes[Int(mark)] = set
        following[Int(mark)] = sets[Int(set)].first
        sets[Int(set)].first = mark
        if sets[Int(set)].last == Self.none { sets[Int(set)].last = mark }
    }

    func hasMarks(_ owner: UInt32) -> Bool { setOfOwner[slot(owner)] != Self.none }

    /// Takes away all that an owner has.
    mutating func take(from owner: UInt32) -> [UInt32] {
        let slot = slot(owner)
        guard setOfOwner[slot] != Self.none else { return [] }
        var marks: [UInt32] = []
        var mark = sets[Int(setOfOwner[slot])].first
        while mark != Self.none {
            marks.append(mark)
            mark = following[Int(mark)]
        }
        setOfOwner[slot] = Self.none
        return marks
    }

    /// Gives all that an owner has to another.
    mutating func move(from owner: UInt32, to heir: UInt32) {
        let set = setOfOwner[slot(owner)]
        guard set != Self.none else { return }
        setOfOwner[slot(owner)] = Self.none
        let other = setOfOwner[slot(heir)]
        guard other != Self.none else {
            setOfOwner[slot(heir)] = set
            sets[Int(set)].owner = heir
            return
        }
        following[Int(sets[Int(set)].last)] = sets[Int(other)].first
        sets[Int(other)].first = sets[Int(set)].first
        sets[Int(set)].partOf = other
    }
}
