import Changesets

/// Reads a query's text into its syntax tree. Conditions and arithmetic go over an explicit stack, so that neither a long chain nor
/// deep parentheses need the machine's.
struct SyntaxParser {
    var tokens: TokenReader
    private let limits: QueryLimits
    /// The levels of nesting around the condition that is being read.
    private var depth = 0
    private var subqueryDepth = 0

    var token: Token { tokens.token }

    static func parse(_ text: [UInt8], limits: QueryLimits) throws(QueryError) -> QuerySyntax {
        guard text.count <= limits.bytes else {
            throw .limit("expected a query of at most \(limits.bytes) bytes, found \(text.count)", at: limits.bytes)
        }
        var parser = SyntaxParser(tokens: try TokenReader(text, limits: limits), limits: limits)
        let condition = try parser.condition()
        let arrangement = try parser.tokens.arrangement()
        guard parser.token.kind == .end else {
            throw parser.tokens.unexpected("and, or, SORT, DISTINCT, LIMIT or the end")
        }
        return QuerySyntax(condition: condition, arrangement: arrangement)
    }

    private init(tokens: TokenReader, limits: QueryLimits) {
        self.tokens = tokens
        self.limits = limits
    }

    /// Reads the condition of a subquery.
    mutating func nestedCondition() throws(QueryError) -> ConditionSyntax {
        subqueryDepth += 1
        guard subqueryDepth <= limits.subqueryDepth else {
            throw .limit(
                "expected at most \(limits.subqueryDepth) subqueries within each other, found more", at: token.offset)
        }
        defer { subqueryDepth -= 1 }
        return try condition()
    }

    /// Reads a condition, up to the first token that cannot belong to it.
    private mutating func condition() throws(QueryError) -> ConditionSyntax {
        var stack = OperatorStack(depth: depth, limits: limits)
        var expectsOperand = true
        while true {
            if expectsOperand {
                expectsOperand = try !operand(&stack)
            } else {
                guard let expects = try operation(&stack) else { break }
                expectsOperand = expects
            }
        }
        return try stack.finish(counting: &tokens)
    }

    /// Reads an operand or what may stand before one; whether it was an operand.
    private mutating func operand(_ stack: inout OperatorStack) throws(QueryError) -> Bool {
        let offset = token.offset
        switch token.kind {
        case .not:
            try stack.open(.not, at: offset)
            try tokens.advance()
            return false
        case .symbol(UInt8(ascii: "(")):
            try stack.open(.parenthesis, at: offset)
            try tokens.advance()
            return false
        case .keyword(.truePredicate), .keyword(.falsePredicate):
            let isTrue = token.kind == .keyword(.truePredicate)
            try tokens.advance()
            try tokens.count(at: offset)
            stack.push(.constant(isTrue), at: offset)
            return true
        default:
            stack.push(try value(at: stack.depth), at: offset)
            return true
        }
    }

    /// Reads a value, which may be a subquery with conditions of its own.
    /// - Parameter level: the levels of nesting around it.
    private mutating func value(at level: Int) throws(QueryError) -> ExpressionSyntax {
        let around = depth
        depth = level
        defer { depth = around }
        return try value()
    }

    /// Reads what follows an operand: whether another operand has to follow it, nil at the end of the condition.
    private mutating func operation(_ stack: inout OperatorStack) throws(QueryError) -> Bool? {
        switch token.kind {
        case .symbol(UInt8(ascii: "+")): return try push(.arithmetic(.add), &stack)
        case .symbol(UInt8(ascii: "-")): return try push(.arithmetic(.subtract), &stack)
        case .symbol(UInt8(ascii: "*")): return try push(.arithmetic(.multiply), &stack)
        case .symbol(UInt8(ascii: "/")): return try push(.arithmetic(.divide), &stack)
        case .symbol(UInt8(ascii: ")")):
            guard try stack.close(counting: &tokens) else { return nil }
            try tokens.advance()
            return false
        case .and: return try push(.and, &stack)
        case .or: return try push(.or, &stack)
        case .compare(let op): return try comparison(op, &stack)
        case .keyword(.between): return try between(&stack)
        case .keyword(.geoWithin): return try geoWithin(&stack)
        case .keyword(.text): return try push(.fullText, &stack)
        case .keyword(let keyword):
            guard let op = keyword.stringOperator else { return nil }
            return try comparison(op, &stack)
        default: return nil
        }
    }

    private mutating func push(
        _ kind: PendingOperator.Kind, _ stack: inout OperatorStack
    ) throws(QueryError) -> Bool {
        try stack.push(kind, at: token.offset, counting: &tokens)
        try tokens.advance()
        return true
    }

    private mutating func comparison(
        _ op: ComparisonOperator, _ stack: inout OperatorStack
    ) throws(QueryError) -> Bool {
        let offset = token.offset
        try stack.settleComparison(counting: &tokens)
        try tokens.advance()
        var flags = (ignoresCase: false, ignoresMarks: false)
        if case .textFlags(let ignoresCase, let ignoresMarks) = token.kind {
            guard !op.isOrder else {
                throw tokens.unexpected("a value: \(op.rawValue) does not take [c] or [d]")
            }
            guard !ignoresMarks || op != .like else {
                throw tokens.unexpected("a value: LIKE does not take [d]")
            }
            flags = (ignoresCase, ignoresMarks)
            try tokens.advance()
        }
        try stack.push(
            .comparison(op, ignoresCase: flags.ignoresCase, ignoresMarks: flags.ignoresMarks), at: offset,
            counting: &tokens)
        return true
    }

    private mutating func between(_ stack: inout OperatorStack) throws(QueryError) -> Bool {
        let offset = token.offset
        let left = try stack.popValue(before: "BETWEEN", counting: &tokens)
        try tokens.advance()
        let listOffset = token.offset
        let value = try value(at: stack.depth)
        let list: ListSyntax
        if case .list(let found) = value {
            list = found
        } else if case .constant(let found) = value, case .argument(let number, nil) = found.constant {
            list = ListSyntax(elements: [], quantifier: nil, offset: listOffset, argument: number)
        } else {
            throw .syntax("expected a list { } after BETWEEN", at: listOffset)
        }
        try tokens.count(at: offset)
        stack.push(.between(left, list, offset: offset), at: offset)
        return false
    }

    private mutating func geoWithin(_ stack: inout OperatorStack) throws(QueryError) -> Bool {
        let offset = token.offset
        guard case .path(let path) = try stack.popValue(before: "GEOWITHIN", counting: &tokens) else {
            throw .syntax("expected a property before GEOWITHIN", at: offset)
        }
        try tokens.advance()
        try tokens.count(at: offset)
        stack.push(.geoWithin(path, try tokens.region(), offset: offset), at: offset)
        return false
    }
}
