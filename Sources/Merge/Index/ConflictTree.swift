/// The nodes of a conflict index, and the lists of positions that they hold.
///
/// A node has two lists, so that kinds of operations that never do anything to each other need not meet. A third one, of
/// objects only, has everything at the node and below it: who erases an object meets all of that in order, and mostly no
/// more than the first. Lists are chained through arrays, in the order of the operations, and drop the discarded while they
/// are walked; neither a node nor an entry costs an allocation of its own.
struct ConflictTree {
    static let none = UInt32.max

    enum Label: UInt8 {
        case table, column, object, field, key, element
    }

    /// The name of a list of a node.
    enum Part: Int {
        case main, second, whole

        static let count = 3
    }

    private struct Edge: Hashable {
        var parent: UInt32
        var value: UInt32
        var label: Label

        func hash(into hasher: inout Hasher) { hasher.combine(UInt64(parent) << 32 | UInt64(value)) }
    }

    private struct Node {
        var parent: UInt32
        var firstChild = ConflictTree.none
        var nextSibling = ConflictTree.none
        /// Whether it is among its parent's children.
        var isLinked = true
    }

    private struct List {
        var first = ConflictTree.none
        var last = ConflictTree.none
    }

    private var nodes: [Node] = []
    private var lists: [List] = []
    private var edges: [Edge: UInt32] = [:]
    /// The position that follows in the same list, by position.
    private var following: [UInt32] = []
    /// The same for the lists of whole objects.
    private var followingInWhole: [UInt32] = []

    init(capacity: Int) {
        following.reserveCapacity(capacity)
        followingInWhole.reserveCapacity(capacity)
    }

    // MARK: Nodes

    func find(_ label: Label, _ value: UInt32, below parent: UInt32 = none) -> UInt32? {
        edges[Edge(parent: parent, value: value, label: label)]
    }

    mutating func make(_ label: Label, _ value: UInt32, below parent: UInt32 = none) -> UInt32 {
        let edge = Edge(parent: parent, value: value, label: label)
        if let node = edges[edge] { return node }
        let node = UInt32(truncatingIfNeeded: nodes.count)
        var made = Node(parent: parent)
        if parent != Self.none {
            made.nextSibling = nodes[Int(parent)].firstChild
            nodes[Int(parent)].firstChild = node
        }
        nodes.append(made)
        for _ in 0..<Part.count { lists.append(List()) }
        edges[edge] = node
        return node
    }

    func hasAncestor(of node: UInt32, where holds: (UInt32) -> Bool) -> Bool {
        var ancestor = nodes[Int(node)].parent
        while ancestor != Self.none {
            if holds(ancestor) { return true }
            ancestor = nodes[Int(ancestor)].parent
        }
        return false
    }

    func hasChildren(_ node: UInt32) -> Bool { nodes[Int(node)].firstChild != Self.none }

    /// Collects the live positions of all nodes below one, without recursion: how deep they go is the sender's choice.
    /// Nodes with nothing left in or below them are taken out, so that they are gone through once and not every time.
    mutating func collect(below top: UInt32, of operations: OperationList, into positions: inout [UInt32]) {
        var parent = top
        var node = nodes[Int(top)].firstChild
        // The sibling in front of the current node, for each level.
        var before = [Self.none]
        while true {
            if node != Self.none {
                collect(node, .main, of: operations, into: &positions)
                collect(node, .second, of: operations, into: &positions)
                if hasChildren(node) {
                    parent = node
                    node = nodes[Int(node)].firstChild
                    before.append(Self.none)
                    continue
                }
            } else {
                if parent == top { return }
                node = parent
                parent = nodes[Int(node)].parent
                before.removeLast()
            }
            let next = nodes[Int(node)].nextSibling
            if isEmpty(node) {
                unlink(node, after: before[before.count - 1], below: parent)
            } else {
                before[before.count - 1] = node
            }
            node = next
        }
    }

    private func isEmpty(_ node: UInt32) -> Bool {
        !hasChildren(node) && lists[number(of: node, .main)].first == Self.none
            && lists[number(of: node, .second)].first == Self.none
    }

    private func number(of node: UInt32, _ part: Part) -> Int { Int(node) * Part.count + part.rawValue }

    private mutating func unlink(_ node: UInt32, after sibling: UInt32, below parent: UInt32) {
        let next = nodes[Int(node)].nextSibling
        if sibling == Self.none {
            nodes[Int(parent)].firstChild = next
        } else {
            nodes[Int(sibling)].nextSibling = next
        }
        nodes[Int(node)].isLinked = false
    }

    /// Puts a node back that was taken out; its parent has to be in.
    private mutating func link(_ node: UInt32) {
        guard !nodes[Int(node)].isLinked else { return }
        let parent = Int(nodes[Int(node)].parent)
        nodes[Int(node)].nextSibling = nodes[parent].firstChild
        nodes[parent].firstChild = node
        nodes[Int(node)].isLinked = true
    }

    // MARK: Lists

    /// Appends the next position. Every position is in one list of a node, and in the list of the whole object if it has one.
    mutating func append(_ position: Int, to node: UInt32, _ part: Part, whole object: UInt32? = nil) {
        following.append(Self.none)
        followingInWhole.append(Self.none)
        let position = UInt32(truncatingIfNeeded: position)
        Self.append(position, to: &lists[number(of: node, part)], in: &following)
        if let object { Self.append(position, to: &lists[number(of: object, .whole)], in: &followingInWhole) }
    }

    private static func append(_ position: UInt32, to list: inout List, in following: inout [UInt32]) {
        if list.last == none { list.first = position } else { following[Int(list.last)] = position }
        list.last = position
    }

    /// Puts a new position where it belongs in the order. The node is that of a class or just below one.
    mutating func insert(_ position: Int, into node: UInt32, _ part: Part, of operations: OperationList) {
        link(node)
        let list = number(of: node, part)
        var before = Self.none
        var after = lists[list].first
        while after != Self.none, operations.precedes(Int(after), position) {
            before = after
            after = following[Int(after)]
        }
        let position = UInt32(truncatingIfNeeded: position)
        following.append(after)
        followingInWhole.append(Self.none)
        if before == Self.none { lists[list].first = position } else { following[Int(before)] = position }
        if after == Self.none { lists[list].last = position }
    }

    /// A place in a list that is being walked.
    struct Cursor {
        fileprivate let list: Int
        fileprivate let isWhole: Bool
        fileprivate var before = ConflictTree.none
        /// A live position, or none at the end.
        private(set) var current: UInt32

        fileprivate init(list: Int, part: Part, first: UInt32) {
            self.list = list
            isWhole = part == .whole
            current = first
        }

        fileprivate mutating func keep(_ following: UInt32) {
            before = current
            current = following
        }

        fileprivate mutating func drop(_ following: UInt32) { current = following }
    }

    /// A cursor at the list's first live position.
    mutating func walk(_ node: UInt32, _ part: Part, of operations: OperationList) -> Cursor {
        let list = number(of: node, part)
        var cursor = Cursor(list: list, part: part, first: lists[list].first)
        skipDiscarded(&cursor, operations)
        return cursor
    }

    mutating func collect(
        _ node: UInt32, _ part: Part, of operations: OperationList, into positions: inout [UInt32]
    ) {
        var cursor = walk(node, part, of: operations)
        while cursor.current != Self.none {
            positions.append(cursor.current)
            advance(&cursor, of: operations)
        }
    }

    mutating func advance(_ cursor: inout Cursor, of operations: OperationList) {
        if operations.operations[Int(cursor.current)].isLive { cursor.keep(next(after: cursor.current, cursor)) }
        skipDiscarded(&cursor, operations)
    }

    private func next(after position: UInt32, _ cursor: Cursor) -> UInt32 {
        cursor.isWhole ? followingInWhole[Int(position)] : following[Int(position)]
    }

    private mutating func skipDiscarded(_ cursor: inout Cursor, _ operations: OperationList) {
        while cursor.current != Self.none, !operations.operations[Int(cursor.current)].isLive {
            let next = next(after: cursor.current, cursor)
            if cursor.before == Self.none {
                lists[cursor.list].first = next
            } else if cursor.isWhole {
                followingInWhole[Int(cursor.before)] = next
            } else {
                following[Int(cursor.before)] = next
            }
            if next == Self.none { lists[cursor.list].last = cursor.before }
            cursor.drop(next)
        }
    }
}
