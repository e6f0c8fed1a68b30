/// What waits on the parser's stack for its operands.
private struct PendingOperator {
    enum Kind: Equatable {
        case parenthesis, or, and, not
        case comparison(ComparisonOperator, ignoresCase: Bool, ignoresMarks: Bool)
        case fullText
        case arithmetic(ArithmeticOperator)
    }
    var kind: Kind
    var offset: Int

    /// How tightly the operator binds.
    var strength: Int {
        switch kind {
        case .parenthesis: 0
        case .or: 1
        case .and: 2
        case .not: 3
        case .comparison, .fullText: 4
        case .arithmetic(.add), .arithmetic(.subtract): 5
        case .arithmetic(.multiply), .arithmetic(.divide): 6
        }
    }
}

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

private struct OperatorStack {
    var operands: [Operand] = []
    var operators: [PendingOperator] = []

    mutating func push(_ kind: PendingOperator.Kind, at offset: Int) {
        operators.append(PendingOperator(kind: kind, offset: offset))
    }
}

extension SyntaxParser {
    /// Reads a condition, up to the first token that cannot belong to it.
    mutating func condition() throws(QueryError) -> ConditionSyntax {
        var stack = OperatorStack()
        var expectsOperand = true
        while true {
            if expectsOperand {
                expectsOperand = try !operand(&stack)
            } else {
                guard let expects = try operation(&stack) else { break }
                expectsOperand = expects
            }
        }
        let begin = stack.operands.first?.offset ?? token.offset
        try reduce(&stack, to: 1)
        if let open = stack.operators.last {
            throw unexpected("\")\" for the parenthesis at byte \(open.offset)")
        }
        guard let last = stack.operands.popLast(), case .condition(let condition) = last.content else {
            if token.kind != .end { throw unexpected("an operator") }
            throw .syntax("expected a comparison, found a value alone", at: begin)
        }
        return condition
    }

    /// Reads an operand or what may stand before one; whether it was an operand.
    private mutating func operand(_ stack: inout OperatorStack) throws(QueryError) -> Bool {
        let offset = token.offset
        switch token.kind {
        case .not:
            try enter(at: offset)
            stack.push(.not, at: offset)
            try advance()
            return false
        case .symbol(UInt8(ascii: "(")):
            try enter(at: offset)
            stack.push(.parenthesis, at: offset)
            try advance()
            return false
        case .keyword(.truePredicate), .keyword(.falsePredicate):
            let isTrue = token.kind == .keyword(.truePredicate)
            try advance()
            try count(at: offset)
            stack.operands.append(Operand(content: .condition(.constant(isTrue)), offset: offset))
            return true
        default:
            stack.operands.append(Operand(content: .expression(try value()), offset: offset))
            return true
        }
    }

    /// Reads what follows an operand: whether another operand has to follow it, nil at the end of the condition.
    private mutating func operation(_ stack: inout OperatorStack) throws(QueryError) -> Bool? {
        let offset = token.offset
        switch token.kind {
        case .symbol(UInt8(ascii: "+")): return try arithmetic(.add, &stack)
        case .symbol(UInt8(ascii: "-")): return try arithmetic(.subtract, &stack)
        case .symbol(UInt8(ascii: "*")): return try arithmetic(.multiply, &stack)
        case .symbol(UInt8(ascii: "/")): return try arithmetic(.divide, &stack)
        case .symbol(UInt8(ascii: ")")):
            guard stack.operators.lastIndex(where: { $0.strength == 0 }) != nil else { return nil }
            try reduce(&stack, to: 1)
            stack.operators.removeLast()
            depth -= 1
            stack.operands[stack.operands.count - 1].isValue = false
            try advance()
            return false
        case .and, .or:
            let pending = PendingOperator(kind: token.kind == .and ? .and : .or, offset: offset)
            // A chain of one operator waits for its end, to be one node.
            try reduce(&stack, to: pending.strength + 1)
            stack.operators.append(pending)
            try advance()
            return true
        case .compare(let op): return try comparison(op, &stack)
        case .keyword(.between): return try between(&stack)
        case .keyword(.geoWithin): return try geoWithin(&stack)
        case .keyword(.text):
            try reduce(&stack, to: 4)
            stack.push(.fullText, at: offset)
            try advance()
            return true
        case .keyword(let keyword):
            guard let op = keyword.stringOperator else { return nil }
            return try comparison(op, &stack)
        default: return nil
        }
    }

    private mutating func arithmetic(
        _ op: ArithmeticOperator, _ stack: inout OperatorStack
    ) throws(QueryError) -> Bool {
        let pending = PendingOperator(kind: .arithmetic(op), offset: token.offset)
        try reduce(&stack, to: pending.strength)
        stack.operators.append(pending)
        try advance()
        return true
    }

    private mutating func comparison(
        _ op: ComparisonOperator, _ stack: inout OperatorStack
    ) throws(QueryError) -> Bool {
        let offset = token.offset
        try reduce(&stack, to: 4)
        try advance()
        var flags = (ignoresCase: false, ignoresMarks: false)
        if case .textFlags(let ignoresCase, let ignoresMarks) = token.kind {
            guard !op.isOrder else {
                throw unexpected("a value: \(op.rawValue) does not take [c] or [d]")
            }
            guard !ignoresMarks || op != .like else { throw unexpected("a value: LIKE does not take [d]") }
            flags = (ignoresCase, ignoresMarks)
            try advance()
        }
        stack.push(
            .comparison(op, ignoresCase: flags.ignoresCase, ignoresMarks: flags.ignoresMarks), at: offset)
        return true
    }

    private mutating func between(_ stack: inout OperatorStack) throws(QueryError) -> Bool {
        let offset = token.offset
        let left = try popValue(&stack, before: "BETWEEN")
        try advance()
        let listOffset = token.offset
        let value = try value()
        let list: ListSyntax
        if case .list(let found) = value {
            list = found
        } else if case .constant(let found) = value, case .argument(let number, nil) = found.constant {
            list = ListSyntax(elements: [], quantifier: nil, offset: listOffset, argument: number)
        } else {
            throw .syntax("expected a list { } after BETWEEN", at: listOffset)
        }
        try count(at: offset)
        stack.operands.append(Operand(content: .condition(.between(left, list, offset: offset)), offset: offset))
        return false
    }

    private mutating func geoWithin(_ stack: inout OperatorStack) throws(QueryError) -> Bool {
        let offset = token.offset
        guard case .path(let path) = try popValue(&stack, before: "GEOWITHIN") else {
            throw .syntax("expected a property before GEOWITHIN", at: offset)
        }
        try advance()
        try count(at: offset)
        let condition = ConditionSyntax.geoWithin(path, try region(), offset: offset)
        stack.operands.append(Operand(content: .condition(condition), offset: offset))
        return false
    }

    /// Takes the last operand, which has to be a value, for an operator that takes nothing else.
    private mutating func popValue(
        _ stack: inout OperatorStack, before name: String
    ) throws(QueryError) -> ExpressionSyntax {
        try reduce(&stack, to: 4)
        guard let operand = stack.operands.popLast(), operand.isValue, case .expression(let value) = operand.content
        else {
            throw unexpected("a property or constant alone before \(name)")
        }
        return value
    }
}

// MARK: - Reducing

extension SyntaxParser {
    /// Gives the waiting operators that bind at least so tightly their operands.
    private mutating func reduce(_ stack: inout OperatorStack, to strength: Int) throws(QueryError) {
        while let last = stack.operators.last, last.strength >= strength, last.strength > 0 {
            stack.operators.removeLast()
            switch last.kind {
            case .parenthesis: break
            case .and, .or: try reduceChain(&stack, last)
            case .not:
                depth -= 1
                let inner = try popCondition(&stack)
                stack.operands.append(Operand(content: .condition(.not(inner)), offset: last.offset))
            case .arithmetic(let op): try reduceArithmetic(&stack, op, last.offset)
            case .comparison(let op, let ignoresCase, let ignoresMarks):
                let (left, right) = try popSides(&stack, areValues: op.isString, of: last)
                try count(at: last.offset)
                let comparison = ConditionSyntax.Comparison(
                    op: op, ignoresCase: ignoresCase, ignoresMarks: ignoresMarks, left: left, right: right,
                    offset: last.offset)
                stack.operands.append(Operand(content: .condition(.comparison(comparison)), offset: left.offset))
            case .fullText:
                let (left, right) = try popSides(&stack, areValues: true, of: last)
                try count(at: last.offset)
                let condition = ConditionSyntax.fullText(left, right, offset: last.offset)
                stack.operands.append(Operand(content: .condition(condition), offset: left.offset))
            }
        }
    }

    private mutating func reduceChain(
        _ stack: inout OperatorStack, _ last: PendingOperator
    ) throws(QueryError) {
        var length = 2
        while let before = stack.operators.last, before.strength == last.strength {
            stack.operators.removeLast()
            length += 1
        }
        var parts: [ConditionSyntax] = []
        parts.reserveCapacity(length)
        for _ in 0..<length { parts.append(try popCondition(&stack)) }
        parts.reverse()
        // What stands first in parentheses associates as without them.
        switch (last.kind, parts[0]) {
        case (.and, .all(let first)), (.or, .any(let first)): parts.replaceSubrange(0...0, with: first)
        default: break
        }
        let chain = last.kind == .and ? ConditionSyntax.all(parts) : .any(parts)
        stack.operands.append(Operand(content: .condition(chain), offset: last.offset))
    }

    private mutating func reduceArithmetic(
        _ stack: inout OperatorStack, _ op: ArithmeticOperator, _ offset: Int
    ) throws(QueryError) {
        let right = stack.operands.popLast()
        let left = stack.operands.popLast()
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
        stack.operands.append(
            Operand(
                content: .expression(.operation(op, leftValue, rightValue, offset: offset)), offset: left.offset,
                isValue: false, depth: levels))
    }

    private func popCondition(_ stack: inout OperatorStack) throws(QueryError) -> ConditionSyntax {
        guard let operand = stack.operands.popLast() else { throw unexpected("a comparison") }
        guard case .condition(let condition) = operand.content else {
            throw .syntax("expected a comparison, found a value alone", at: operand.offset)
        }
        return condition
    }

    private func popSides(
        _ stack: inout OperatorStack, areValues: Bool, of pending: PendingOperator
    ) throws(QueryError) -> (ExpressionSyntax, ExpressionSyntax) {
        let right = stack.operands.popLast()
        let left = stack.operands.popLast()
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
