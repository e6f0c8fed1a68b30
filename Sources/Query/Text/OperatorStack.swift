/// The operands and operators of a condition that is being read. An operator waits for its right side until one comes that binds less tightly.
struct OperatorStack {
    private struct Operand {
        enum Content {
            case expression(ExpressionSyntax)
            case condition(ConditionSyntax)
        }
        var content: Content
        var offset: Int
        /// Neither arithmetic nor in parentheses, as string operators want it.
        var isValue = true
        /// The depth of arithmetic operators within each other.
        var depth = 0
    }

    private let limits: QueryLimits
    private var operands: [Operand] = []
    private var operators: [PendingOperator] = []
    /// The levels of nesting that are open, with those around the condition.
    private(set) var depth: Int

    init(depth: Int, limits: QueryLimits) {
        self.depth = depth
        self.limits = limits
    }

    // MARK: What comes in

    /// Adds an operand.
    mutating func push(_ value: ExpressionSyntax, at offset: Int) {
        operands.append(Operand(content: .expression(value), offset: offset))
    }

    /// Adds an operand that is a condition by itself.
    mutating func push(_ condition: ConditionSyntax, at offset: Int) {
        operands.append(Operand(content: .condition(condition), offset: offset))
    }

    /// Opens a parenthesis or a negation.
    mutating func open(_ kind: PendingOperator.Kind, at offset: Int) throws(QueryError) {
        depth += 1
        guard depth <= limits.depth else {
            throw .limit("expected at most \(limits.depth) levels of nesting, found more", at: offset)
        }
        operators.append(PendingOperator(kind: kind, offset: offset))
    }

    /// Closes the innermost parenthesis.
    /// - Returns: whether there is one.
    mutating func close(counting tokens: inout TokenReader) throws(QueryError) -> Bool {
        guard operators.contains(where: { $0.kind == .parenthesis }) else { return false }
        try reduce(to: .or, &tokens)
        operators.removeLast()
        depth -= 1
        operands[operands.count - 1].isValue = false
        return true
    }

    /// Adds an operator, before which those that bind more tightly get their operands.
    mutating func push(
        _ kind: PendingOperator.Kind, at offset: Int, counting tokens: inout TokenReader
    ) throws(QueryError) {
        let pending = PendingOperator(kind: kind, offset: offset)
        switch kind {
        // A chain of one operator waits for its end, to be one node.
        case .or: try reduce(to: .and, &tokens)
        case .and: try reduce(to: .not, &tokens)
        default: try reduce(to: pending.strength, &tokens)
        }
        operators.append(pending)
    }

    /// Gives the operators before a comparison their operands, so that what is wrong with them is said before what is wrong after it.
    mutating func settleComparison(counting tokens: inout TokenReader) throws(QueryError) {
        try reduce(to: .comparison, &tokens)
    }

    /// Takes the last operand, which has to be a value, for an operator that takes nothing else.
    mutating func popValue(
        before name: String, counting tokens: inout TokenReader
    ) throws(QueryError) -> ExpressionSyntax {
        try settleComparison(counting: &tokens)
        guard let operand = operands.popLast(), operand.isValue, case .expression(let value) = operand.content else {
            throw tokens.unexpected("a property or constant alone before \(name)")
        }
        return value
    }

    /// Gives all operators their operands.
    /// - Returns: the condition as a whole.
    mutating func finish(counting tokens: inout TokenReader) throws(QueryError) -> ConditionSyntax {
        let begin = operands.first?.offset ?? tokens.token.offset
        try reduce(to: .or, &tokens)
        if let open = operators.last {
            throw tokens.unexpected("\")\" for the parenthesis at byte \(open.offset)")
        }
        guard let last = operands.popLast(), case .condition(let condition) = last.content else {
            if tokens.token.kind != .end { throw tokens.unexpected("an operator") }
            throw .syntax("expected a comparison, found a value alone", at: begin)
        }
        return condition
    }

    // MARK: Reducing

    /// Gives the waiting operators that bind at least so tightly their operands.
    private mutating func reduce(
        to strength: PendingOperator.Strength, _ tokens: inout TokenReader
    ) throws(QueryError) {
        while let last = operators.last, last.strength >= strength {
            operators.removeLast()
            switch last.kind {
            case .parenthesis: break
            case .and, .or: try reduceChain(last, tokens)
            case .not:
                depth -= 1
                push(.not(try popCondition(tokens)), at: last.offset)
            case .arithmetic(let op): try reduceArithmetic(op, last.offset)
            case .comparison(let op, let ignoresCase, let ignoresMarks):
                let (left, right) = try popSides(areValues: op.isString, of: last)
                try tokens.count(at: last.offset)
                let comparison = ConditionSyntax.Comparison(
                    op: op, ignoresCase: ignoresCase, ignoresMarks: ignoresMarks, left: left, right: right,
                    offset: last.offset)
                push(.comparison(comparison), at: left.offset)
            case .fullText:
                let (left, right) = try popSides(areValues: true, of: last)
                try tokens.count(at: last.offset)
                push(.fullText(left, right, offset: last.offset), at: left.offset)
            }
        }
    }

    private mutating func reduceChain(_ last: PendingOperator, _ tokens: TokenReader) throws(QueryError) {
        var length = 2
        while let before = operators.last, before.strength == last.strength {
            operators.removeLast()
            length += 1
        }
        var parts: [ConditionSyntax] = []
        parts.reserveCapacity(length)
        for _ in 0..<length { parts.append(try popCondition(tokens)) }
        parts.reverse()
        // What stands first in parentheses associates as without them.
        switch (last.kind, parts[0]) {
        case (.and, .all(let first)), (.or, .any(let first)): parts.replaceSubrange(0...0, with: first)
        default: break
        }
        push(last.kind == .and ? .all(parts) : .any(parts), at: last.offset)
    }

    private mutating func reduceArithmetic(_ op: ArithmeticOperator, _ offset: Int) throws(QueryError) {
        let right = operands.popLast()
        let left = operands.popLast()
        guard let left, let right, case .expression(let leftValue) = left.content,
            case .expression(let rightValue) = right.content
        else {
            throw .syntax("expected values on both sides of \"\(op.rawValue)\", found a condition", at: offset)
        }
        let levels = max(left.depth, right.depth) + 1
        guard levels <= limits.depth else {
            throw .limit(
                "expected at most \(limits.depth) arithmetic operators within each other, found more", at: offset)
        }
        operands.append(
            Operand(
                content: .expression(.operation(op, leftValue, rightValue, offset: offset)), offset: left.offset,
                isValue: false, depth: levels))
    }

    private mutating func popCondition(_ tokens: TokenReader) throws(QueryError) -> ConditionSyntax {
        guard let operand = operands.popLast() else { throw tokens.unexpected("a comparison") }
        guard case .condition(let condition) = operand.content else {
            throw .syntax("expected a comparison, found a value alone", at: operand.offset)
        }
        return condition
    }

    private mutating func popSides(
        areValues: Bool, of pending: PendingOperator
    ) throws(QueryError) -> (ExpressionSyntax, ExpressionSyntax) {
        let right = operands.popLast()
        let left = operands.popLast()
        guard let left, let right, case .expression(let leftValue) = left.content,
            case .expression(let rightValue) = right.content
        else {
            throw .syntax("expected a value on both sides of a comparison, found a condition", at: pending.offset)
        }
        guard !areValues || (left.isValue && right.isValue) else {
            throw .syntax(
                "expected a property or constant alone on both sides of a string operator", at: pending.offset)
        }
        return (leftValue, rightValue)
    }
}

/// An operator that waits for its operands.
struct PendingOperator {
    enum Kind: Equatable {
        case parenthesis, or, and, not
        case comparison(ComparisonOperator, ignoresCase: Bool, ignoresMarks: Bool)
        case fullText
        case arithmetic(ArithmeticOperator)
    }

    /// How tightly an operator binds.
    enum Strength: Int, Comparable {
        case parenthesis, or, and, not, comparison, sum, product

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    let kind: Kind
    let offset: Int

    var strength: Strength {
        switch kind {
        case .parenthesis: .parenthesis
        case .or: .or
        case .and: .and
        case .not: .not
        case .comparison, .fullText: .comparison
        case .arithmetic(.add), .arithmetic(.subtract): .sum
        case .arithmetic(.multiply), .arithmetic(.divide): .product
        }
    }
}
