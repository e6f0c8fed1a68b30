/// The order in which clients bring the operands of nested chains.
enum ConditionOrder {
    enum Chain { case all, any }

    /// A child that waits for its turn: a condition, or the first so many operands of a chain.
    private enum Child {
        case condition(Condition)
        case prefix(ArraySlice<Condition>)
    }

    /// Clients see a chain as a tree of pairs. They go over the children; one of the same kind is taken out, and its own two
    /// are put at the end.
    static func flattened(_ parts: [Condition], of chain: Chain) -> [Condition] {
        var waiting = pair(parts[...])
        var next = 0
        var result: [Condition] = []
        while next < waiting.count {
            switch waiting[next] {
            case .prefix(let parts): waiting += pair(parts)
            case .condition(let condition):
                switch (condition, chain) {
                case (.all(let parts), .all), (.any(let parts), .any): waiting += pair(parts[...])
                default: result.append(condition)
                }
            }
            next += 1
        }
        return result
    }

    /// A chain's left side, which is all but its last operand, and that one.
    private static func pair(_ parts: ArraySlice<Condition>) -> [Child] {
        guard let last = parts.last else { return [] }
        let left = parts.dropLast()
        guard let only = left.first else { return [.condition(last)] }
        return [left.count == 1 ? .condition(only) : .prefix(left), .condition(last)]
    }
}
