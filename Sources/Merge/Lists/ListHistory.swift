/// What one side has done to a list: its operations with the elements that they are about.
///
/// Elements are numbered: first those that both sides began with, then those inserted, in the order of their insertion.
/// An element's *rank* is its place among all that this side has ever had.
struct ListHistory {
    enum Kind {
        case insert, erase, assign
        /// Changes something inside the element.
        case inside
    }

    struct Step {
        /// The operation's position on its side.
        var position: UInt32
        var element: UInt32
        /// What the operation calls the element.
        var index: UInt32
        var kind: Kind
    }

    let baseCount: Int
    private(set) var steps: [Step] = []
    /// By element.
    private(set) var ranks: [UInt32] = []
    /// By rank.
    private(set) var order: [UInt32] = []
    /// By element: the number of the step that erases it.
    private(set) var erasedBy: [UInt32] = []

    static let never = UInt32.max

    var count: Int { ranks.count }
    var insertCount: Int { count - baseCount }

    /// - Parameters:
    ///   - positions: live operations of one list, all of them inserts, erasures or assignments by index, or inside elements.
    ///   - level: which step of their paths is the index.
    /// - Returns: nil if they do not follow from each other, beginning with a list of `baseCount`.
    init?(_ positions: [UInt32], of operations: [Operation], at level: UInt32, baseCount: Int, _ paths: PathSteps) {
        self.baseCount = baseCount
        var sequence = ElementSequence(count: baseCount, capacity: baseCount + positions.count)
        steps.reserveCapacity(positions.count)
        erasedBy = Array(repeating: Self.never, count: baseCount)
        for position in positions {
            let operation = operations[Int(position)]
            let count = sequence.count
            let isInside = operation.depth > level &+ 1
            let index = paths.step(level, of: operation).value
            guard isInside || operation.priorSize == count,
                index < count || (index == count && !isInside && operation.code == .arrayInsert)
            else { return nil }
            let element: UInt32
            let kind: Kind
            switch operation.code {
            case _ where isInside:
                element = sequence.element(at: index)
                kind = .inside
            case .arrayInsert:
                element = sequence.insert(at: index)
                kind = .insert
                erasedBy.append(Self.never)
            case .arrayErase:
                element = sequence.erase(at: index)
                kind = .erase
                erasedBy[Int(element)] = UInt32(truncatingIfNeeded: steps.count)
            default:
                element = sequence.element(at: index)
                kind = .assign
            }
            steps.append(Step(position: position, element: element, index: index, kind: kind))
        }
        order = sequence.inOrder()
        ranks = Array(repeating: 0, count: order.count)
        for (rank, element) in order.enumerated() { ranks[Int(element)] = UInt32(truncatingIfNeeded: rank) }
    }

    func isBase(_ element: UInt32) -> Bool { Int(element) < baseCount }
    func isErased(_ element: UInt32) -> Bool { erasedBy[Int(element)] != Self.never }
}
