/// What one side has done to a list: its operations with the elements that they are about.
///
/// Elements are numbered: first those that both sides began with, then those inserted, in the order of their insertion.
/// An element's *rank* is its place among all that this side has ever had.
struct ListHistory {
    struct Step {
        /// The operation's position on its side.
        var position: UInt32
        var element: UInt32
        /// What the operation calls the element.
        var index: UInt32
        var kind: ListOperation.Kind
    }

    let baseCount: Int
    private(set) var steps: [Step] = []
    /// The rank of each element, by element.
    private(set) var ranks: [UInt32] = []
    /// The elements by their rank.
    private(set) var order: [UInt32] = []
    /// The number of the step that erases each element, by element; `never` if none does.
    private(set) var erasedBy: [UInt32] = []

    static let never = UInt32.max

    var count: Int { ranks.count }
    var insertCount: Int { count - baseCount }

    /// - Parameter operations: live ones, none of them a move or a Clear.
    /// - Returns: nil if they do not follow from each other, beginning with a list of `baseCount`.
    init?(_ operations: some Collection<ListOperation>, baseCount: Int) {
        self.baseCount = baseCount
        var sequence = ElementSequence(count: baseCount, capacity: baseCount + operations.count)
        steps.reserveCapacity(operations.count)
        erasedBy = Array(repeating: Self.never, count: baseCount)
        for operation in operations {
            let index = operation.index
            guard index < sequence.count || (index == sequence.count && operation.kind == .insert) else { return nil }
            let element: UInt32
            switch operation.kind {
            case .insert:
                element = sequence.insert(at: index)
                erasedBy.append(Self.never)
            case .erase:
                element = sequence.erase(at: index)
                erasedBy[Int(element)] = UInt32(truncatingIfNeeded: steps.count)
            case .assign, .inside: element = sequence.element(at: index)
            case .move, .clear: return nil
            }
            steps.append(Step(position: operation.position, element: element, index: index, kind: operation.kind))
        }
        order = sequence.inOrder()
        ranks = Array(repeating: 0, count: order.count)
        for (rank, element) in order.enumerated() { ranks[Int(element)] = UInt32(truncatingIfNeeded: rank) }
    }

    func isBase(_ element: UInt32) -> Bool { Int(element) < baseCount }
    func isErased(_ element: UInt32) -> Bool { erasedBy[Int(element)] != Self.never }
}
