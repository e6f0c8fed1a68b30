import Changesets

/// Finds the incoming operations that a local one may have to be merged with (section 10), so that merging costs about
/// as much as reading both sides, and not their product.
///
/// The reference puts whole objects, and objects that link to each other, into one group. But no rule looks through a
/// link, and two changes in one object meet only if one's path leads to or through the other's. So this is a tree:
///
/// ```
/// class ── column
///       └─ object ── field ── key ── key ...
///                          └─ value in a set
/// ```
///
/// An operation lives at the node where its path ends, or at its first list index, because merging shifts indexes. It
/// meets those at the nodes above, at its own, and below. Two rules reach across: a column meets changes of its field
/// in all objects (5.7), and a column that links to a class meets that class (5.4).
///
/// A node's second list holds what its equals do nothing to: creations, and increments.
struct ConflictIndex {
    /// Steps deeper than this share a node, which bounds what hostile paths cost.
    static let maximumDepth: UInt32 = 16

    private var tree: ConflictTree
    /// Changes per column, and columns that link to a class: kept only if the local side erases schema.
    private var changes: [UInt32: [UInt32]] = [:]
    private var links: [Symbol: [UInt32]] = [:]
    /// Erasures from sets by what the reference compares (D2): kept only to follow it.
    private var rawErasures: [UInt32: [UInt32]] = [:]
    private let followsErasures: Bool
    private let comparesRawErasures: Bool
    /// The one step at which a list index names an element whatever happens to the list.
    private let elementLevel: UInt32?

    /// - Parameters:
    ///   - followsErasures: whether local operations erase classes or columns.
    ///   - comparesRawErasures: whether two erasures from a set may meet although their values differ.
    ///   - elementLevel: the step at which list indexes are names of elements, which no operation shifts.
    init(
        _ list: OperationList, _ steps: PathSteps, followsErasures: Bool, comparesRawErasures: Bool,
        elementLevel: UInt32? = nil
    ) {
        self.elementLevel = elementLevel
        self.followsErasures = followsErasures
        self.comparesRawErasures = comparesRawErasures
        tree = ConflictTree(capacity: list.operations.count)
        for position in list.operations.indices { append(position, list, steps) }
    }

    /// Adds an operation that a rule has put in front of another.
    mutating func insertEraseColumn(_ position: Int, _ list: OperationList) {
        let column = makeColumn(list.operations[position])
        tree.insert(position, into: column, .main, of: list)
    }

    // MARK: Building

    private mutating func append(_ position: Int, _ list: OperationList, _ steps: PathSteps) {
        let operation = list.operations[position]
        switch operation.code {
        case .addTable: tree.append(position, to: makeTable(operation), .second)
        case .eraseTable: tree.append(position, to: makeTable(operation), .main)
        case .createObject:
            let object = makeObject(operation)
            tree.append(position, to: object, .second, whole: object)
        case .eraseObject:
            let object = makeObject(operation)
            tree.append(position, to: object, .main, whole: object)
        case .addColumn:
            tree.append(position, to: makeColumn(operation), .second)
            if followsErasures, operation.type == .link {
                links[operation.linkTarget, default: []].append(UInt32(truncatingIfNeeded: position))
            }
        case .eraseColumn: tree.append(position, to: makeColumn(operation), .main)
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase:
            let object = makeObject(operation)
            let (node, endsHere) = makePath(operation, below: object, steps)
            tree.append(
                position, to: node, operation.code == .addInteger && endsHere ? .second : .main, whole: object)
            if followsErasures {
                changes[makeColumn(operation), default: []].append(UInt32(truncatingIfNeeded: position))
            }
            if comparesRawErasures, operation.code == .setErase {
                rawErasures[operation.rawElement, default: []].append(UInt32(truncatingIfNeeded: position))
            }
        }
    }

    private mutating func makeTable(_ operation: Operation) -> UInt32 { tree.make(.table, operation.table.number) }

    private mutating func makeColumn(_ operation: Operation) -> UInt32 {
        let table = makeTable(operation)
        return tree.make(.column, operation.field.number, below: table)
    }

    private mutating func makeObject(_ operation: Operation) -> UInt32 {
        let table = makeTable(operation)
        return tree.make(.object, operation.object.number, below: table)
    }

    /// The node of a path, and whether the path ends there and not at an index further on.
    private mutating func makePath(
        _ operation: Operation, below object: UInt32, _ steps: PathSteps
    ) -> (node: UInt32, endsHere: Bool) {
        var node = tree.make(.field, operation.field.number, below: object)
        var level: UInt32 = 0
        while level < min(operation.depth, Self.maximumDepth) {
            let step = steps.step(level, of: operation)
            if step.isIndex, level != elementLevel { return (node, false) }
            node = tree.make(step.isIndex ? .element : .key, step.value, below: node)
            level += 1
        }
        let endsHere = level == operation.depth
        if endsHere, operation.isSetOperation {
            node = tree.make(.element, operation.element, below: node)
        }
        return (node, endsHere)
    }

    // MARK: Searching

    /// Begins to visit the live incoming operations that the local one may have to be merged with.
    mutating func start(_ walk: inout ConflictWalk, for operation: Operation, _ list: OperationList, _ steps: PathSteps)
    {
        walk.reset()
        if let table = tree.find(.table, operation.table.number) {
            add(table, .main, list, &walk)
            switch operation.code {
            case .addTable:
                add(table, .second, list, &walk)
            case .eraseTable:
                add(table, .second, list, &walk)
                collect(below: table, list, &walk)
            case .createObject:
                if let object = tree.find(.object, operation.object.number, below: table) {
                    add(object, .main, list, &walk)
                }
            case .eraseObject:
                if let object = tree.find(.object, operation.object.number, below: table) {
                    add(object, .whole, list, &walk)
                }
            case .addColumn, .eraseColumn:
                if let column = tree.find(.column, operation.field.number, below: table) {
                    add(column, .main, list, &walk)
                    add(column, .second, list, &walk)
                    if operation.code == .eraseColumn { collectChanges(column, list, &walk) }
                }
            case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase:
                if let column = tree.find(.column, operation.field.number, below: table) {
                    add(column, .main, list, &walk)
                }
                if let object = tree.find(.object, operation.object.number, below: table) {
                    add(object, .main, list, &walk)
                    if let field = tree.find(.field, operation.field.number, below: object) {
                        addAlongPath(operation, field, list, steps, &walk)
                    }
                }
            }
        }
        addAcrossLinks(operation, list, &walk)
        if !walk.positions.isEmpty {
            walk.collect(&tree, list)
            list.sort(&walk.positions)
        }
    }

    mutating func next(_ walk: inout ConflictWalk, _ list: OperationList) -> Int? { walk.next(&tree, list) }

    /// Visits the nodes from the field to the operation's own, as far as the incoming operations have them, with the number
    /// of steps that lead to each.
    func visitPath(
        of operation: Operation, _ steps: PathSteps, _ visit: (_ node: UInt32, _ level: UInt32, _ isHome: Bool) -> Void
    ) {
        guard operation.code.hasPath, let table = tree.find(.table, operation.table.number),
            let object = tree.find(.object, operation.object.number, below: table),
            var node = tree.find(.field, operation.field.number, below: object)
        else { return }
        var level: UInt32 = 0
        while level < min(operation.depth, Self.maximumDepth) {
            let step = steps.step(level, of: operation)
            if step.isIndex { break }
            visit(node, level, false)
            guard let below = tree.find(.key, step.value, below: node) else { return }
            node = below
            level += 1
        }
        visit(node, level, true)
    }

    func hasAncestor(of node: UInt32, where holds: (_ node: UInt32) -> Bool) -> Bool {
        tree.hasAncestor(of: node, where: holds)
    }

    /// Down from the field: what lies on the way, at the end of it, and below.
    private mutating func addAlongPath(
        _ operation: Operation, _ field: UInt32, _ list: OperationList, _ steps: PathSteps, _ walk: inout ConflictWalk
    ) {
        var node = field
        var level: UInt32 = 0
        while level < min(operation.depth, Self.maximumDepth) {
            let step = steps.step(level, of: operation)
            if step.isIndex, level != elementLevel { break }
            add(node, .main, list, &walk)
            add(node, .second, list, &walk)
            guard let below = tree.find(step.isIndex ? .element : .key, step.value, below: node) else { return }
            node = below
            level += 1
        }
        let endsHere = level == operation.depth
        add(node, .main, list, &walk)
        if !endsHere || operation.code != .addInteger { add(node, .second, list, &walk) }
        if endsHere, operation.isSetOperation {
            if let element = tree.find(.element, operation.element, below: node) { add(element, .main, list, &walk) }
            if comparesRawErasures, operation.code == .setErase { collectRawErasures(operation, list, &walk) }
        } else {
            collect(below: node, list, &walk)
        }
    }

    private mutating func add(
        _ node: UInt32, _ part: ConflictTree.Part, _ list: OperationList, _ walk: inout ConflictWalk
    ) {
        walk.add(tree.walk(node, part, of: list))
    }

    private mutating func collect(below top: UInt32, _ list: OperationList, _ walk: inout ConflictWalk) {
        if tree.hasChildren(top) { tree.collect(below: top, of: list, into: &walk.positions) }
    }

    private mutating func collectChanges(_ column: UInt32, _ list: OperationList, _ walk: inout ConflictWalk) {
        changes[column]?.removeAll { !list.operations[Int($0)].isLive }
        walk.positions.append(contentsOf: changes[column] ?? [])
    }

    private mutating func collectRawErasures(
        _ operation: Operation, _ list: OperationList, _ walk: inout ConflictWalk
    ) {
        rawErasures[operation.rawElement]?.removeAll { !list.operations[Int($0)].isLive }
        walk.positions.append(contentsOf: rawErasures[operation.rawElement] ?? [])
    }

    private mutating func addAcrossLinks(_ operation: Operation, _ list: OperationList, _ walk: inout ConflictWalk) {
        switch operation.code {
        case .eraseTable:
            links[operation.table]?.removeAll { !list.operations[Int($0)].isLive }
            walk.positions.append(contentsOf: links[operation.table] ?? [])
        case .addColumn where operation.type == .link && operation.linkTarget != operation.table:
            if let target = tree.find(.table, operation.linkTarget.number) { add(target, .main, list, &walk) }
        default:
            break
        }
    }
}

extension Operation {
    fileprivate var isSetOperation: Bool { code == .setInsert || code == .setErase }
}
