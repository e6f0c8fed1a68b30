/// The elements that a list has ever had, in their order, erased ones included: finds the living one at an index, and
/// puts new ones between, in logarithmic time.
///
/// A treap: a search tree whose shape is that of random insertion. What is put in front of a living element comes behind
/// the erased ones there.
struct ElementSequence {
    static let none = UInt32.max

    private var left: [UInt32] = []
    private var right: [UInt32] = []
    /// How many living elements there are in the subtree.
    private var counts: [UInt32] = []
    private var isLiving: [Bool] = []
    private var root = none

    /// - Parameter capacity: how many elements there will be.
    init(count: Int, capacity: Int) {
        left.reserveCapacity(capacity)
        right.reserveCapacity(capacity)
        counts.reserveCapacity(capacity)
        isLiving.reserveCapacity(capacity)
        var rightSpine: [UInt32] = []
        for _ in 0..<count {
            let new = append()
            var below = Self.none
            while let last = rightSpine.last, Self.priority(last) < Self.priority(new) {
                update(last)
                below = last
                rightSpine.removeLast()
            }
            left[Int(new)] = below
            if let last = rightSpine.last { right[Int(last)] = new }
            rightSpine.append(new)
        }
        for node in rightSpine.reversed() { update(node) }
        root = rightSpine.first ?? Self.none
    }

    /// How many elements live.
    var count: UInt32 { count(root) }

    private func count(_ node: UInt32) -> UInt32 { node == Self.none ? 0 : counts[Int(node)] }

    /// Mixes the number, so that elements in order have priorities in disorder.
    private static func priority(_ node: UInt32) -> UInt64 {
        let mixed = (UInt64(node) &+ 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
        return (mixed ^ mixed >> 29) &* 0x94D0_49BB_1331_11EB
    }

    private mutating func append() -> UInt32 {
        let new = UInt32(truncatingIfNeeded: left.count)
        left.append(Self.none)
        right.append(Self.none)
        counts.append(1)
        isLiving.append(true)
        return new
    }

    private mutating func update(_ node: UInt32) {
        let index = Int(node)
        counts[index] = count(left[index]) &+ count(right[index]) &+ (isLiving[index] ? 1 : 0)
    }

    /// Whether the place in front of the living element `index` is to the left of the node; if not, `index` becomes one
    /// of the right subtree.
    private func isLeft(_ index: inout UInt32, of node: UInt32) -> Bool {
        let before = count(left[Int(node)])
        if index < before || (index == before && isLiving[Int(node)]) { return true }
        index &-= before &+ (isLiving[Int(node)] ? 1 : 0)
        return false
    }

    /// The living element at an index that there is.
    func element(at index: UInt32) -> UInt32 {
        var index = index
        var node = root
        while node != Self.none {
            let before = count(left[Int(node)])
            if index == before, isLiving[Int(node)] { return node }
            node = isLeft(&index, of: node) ? left[Int(node)] : right[Int(node)]
        }
        return node
    }

    mutating func erase(at index: UInt32) -> UInt32 {
        var index = index
        var node = root
        while node != Self.none {
            counts[Int(node)] &-= 1
            if index == count(left[Int(node)]), isLiving[Int(node)] {
                isLiving[Int(node)] = false
                return node
            }
            node = isLeft(&index, of: node) ? left[Int(node)] : right[Int(node)]
        }
        return node
    }

    /// Puts a new element in front of the living one at an index, or at the end.
    mutating func insert(at index: UInt32) -> UInt32 {
        var index = index
        let new = append()
        var parent = Self.none
        var isLeftChild = false
        var node = root
        while node != Self.none, Self.priority(node) >= Self.priority(new) {
            counts[Int(node)] &+= 1
            parent = node
            isLeftChild = isLeft(&index, of: node)
            node = isLeftChild ? left[Int(node)] : right[Int(node)]
        }
        let parts = split(node, at: index)
        left[Int(new)] = parts.left
        right[Int(new)] = parts.right
        update(new)
        if parent == Self.none {
            root = new
        } else if isLeftChild {
            left[Int(parent)] = new
        } else {
            right[Int(parent)] = new
        }
        return new
    }

    private mutating func split(_ node: UInt32, at index: UInt32) -> (left: UInt32, right: UInt32) {
        guard node != Self.none else { return (Self.none, Self.none) }
        var index = index
        if isLeft(&index, of: node) {
            let parts = split(left[Int(node)], at: index)
            left[Int(node)] = parts.right
            update(node)
            return (parts.left, node)
        }
        let parts = split(right[Int(node)], at: index)
        right[Int(node)] = parts.left
        update(node)
        return (node, parts.right)
    }

    /// All elements in order.
    func inOrder() -> [UInt32] {
        var order: [UInt32] = []
        order.reserveCapacity(left.count)
        var path: [UInt32] = []
        var node = root
        while node != Self.none || !path.isEmpty {
            while node != Self.none {
                path.append(node)
                node = left[Int(node)]
            }
            let top = path.removeLast()
            order.append(top)
            node = right[Int(top)]
        }
        return order
    }
}
