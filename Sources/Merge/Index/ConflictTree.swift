/// The nodes of a conflict index, and the lists of positions that they hold.
///
/// A node has two lists, so that kinds of operations that never do anything to each other need not meet. Lists are
/// chained through one array, in the order of the operations, and drop the discarded while they are walked; neither a
/// node nor an entry costs an allocation of its own.
struct ConflictTree {
    static let none = UInt32.max

    enum Label: UInt8 {
        case table, column, object, field, key, element
    }

    /// Which of a node's lists.
    enum Part: Int {
        case main, second
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

    init(capacity: Int) {
        following.reserveCapacity(capacity)
        nodes.reserveCapacity(capacity)
        lists.reserveCapacity(2 * capacity)
        edges.reserveCapacity(capacity)
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
        lists.append(List())
        lists.append(List())
        edges[edge] = node
        return node
    }

    func hasChildren(_ node: UInt32) -> Bool { nodes[Int(node)].firstChild != Self.none }

    /// The node that comes after `node` when everything below `top` is visited, without recursion: how deep it goes is
    /// the sender's choice.
    func successor(of node: UInt32, below top: UInt32) -> UInt32? {
        if nodes[Int(node)].firstChild != Self.none { return nodes[Int(node)].firstChild }
        var node = node
        while node != top {
            if nodes[Int(node)].nextSibling != Self.none { return nodes[Int(node)].nextSibling }
            node = nodes[Int(node)].parent
        }
        return nil
    }

    // MARK: Lists

    /// Appends the next position. Every position is in one list.
    mutating func append(_ position: Int, to node: UInt32, _ part: Part) {
        let list = Int(node) * 2 + part.rawValue
        let position = UInt32(truncatingIfNeeded: position)
        following.append(Self.none)
        if lists[list].last == Self.none {
            lists[list].first = position
        } else {
            following[Int(lists[list].last)] = position
        }
        lists[list].last = position
    }

    /// Puts a new position where it belongs in the order.
    mutating func insert(_ position: Int, into node: UInt32, _ part: Part, of operations: OperationList) {
        let list = Int(node) * 2 + part.rawValue
        var before = Self.none
        var after = lists[list].first
        while after != Self.none, operations.precedes(Int(after), position) {
            before = after
            after = following[Int(after)]
        }
        let position = UInt32(truncatingIfNeeded: position)
        following.append(after)
        if before == Self.none { lists[list].first = position } else { following[Int(before)] = position }
        if after == Self.none { lists[list].last = position }
    }

    /// A place in a list that is being walked.
    struct Cursor {
        fileprivate var list: Int
        fileprivate var before = ConflictTree.none
        /// A live position, or none at the end.
        private(set) var current: UInt32

        fileprivate init(list: Int, first: UInt32) {
            self.list = list
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
        let list = Int(node) * 2 + part.rawValue
        var cursor = Cursor(list: list, first: lists[list].first)
        skipDiscarded(&cursor, operations)
        return cursor
    }

    mutating func advance(_ cursor: inout Cursor, of operations: OperationList) {
        if operations.operations[Int(cursor.current)].isLive { cursor.keep(following[Int(cursor.current)]) }
        skipDiscarded(&cursor, operations)
    }

    private mutating func skipDiscarded(_ cursor: inout Cursor, _ operations: OperationList) {
        while cursor.current != Self.none, !operations.operations[Int(cursor.current)].isLive {
            let next = following[Int(cursor.current)]
            if cursor.before == Self.none {
                lists[cursor.list].first = next
            } else {
                following[Int(cursor.before)] = next
            }
            if next == Self.none { lists[cursor.list].last = cursor.before }
            cursor.drop(next)
        }
    }
}
