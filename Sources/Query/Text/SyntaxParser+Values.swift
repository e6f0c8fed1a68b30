import Changesets

extension SyntaxParser {
    /// Reads a constant, list, path, aggregate or subquery.
    mutating func value() throws(QueryError) -> ExpressionSyntax {
        let offset = token.offset
        switch token.kind {
        case .symbol(UInt8(ascii: "{")): return .list(try list(nil, offset))
        case .quantifier(let quantifier):
            try tokens.advance()
            switch token.kind {
            case .symbol(UInt8(ascii: "{")): return .list(try list(quantifier, offset))
            case .argument(let number):
                try tokens.advance()
                try tokens.count(at: offset)
                return .constant(LocatedConstant(constant: .argument(number, quantifier), offset: offset))
            default:
                let path = try tokens.path(quantifier, offset)
                if case .symbol(UInt8(ascii: ".")) = token.kind {
                    throw tokens.unexpected("a comparison: a quantifier cannot stand before an aggregate")
                }
                return .path(path)
            }
        case .keyword(.subquery): return try subquery(offset)
        case .identifier, .special, .pathArgument, .compare(.member): return try pathOrAggregate(offset)
        case .keyword(let keyword):
            if keyword == .binary, let constant = try tokens.binary(offset) { return .constant(constant) }
            if keyword.isName { return try pathOrAggregate(offset) }
            return .constant(try tokens.constant())
        default: return .constant(try tokens.constant())
        }
    }

    private mutating func list(_ quantifier: Quantifier?, _ offset: Int) throws(QueryError) -> ListSyntax {
        var list = ListSyntax(elements: [], quantifier: quantifier, offset: offset)
        try tokens.expect("{")
        if try tokens.skip("}") { return list }
        repeat { list.elements.append(try tokens.constant()) } while try tokens.skip(",")
        guard try tokens.skip("}") else { throw tokens.unexpected("\",\" or \"}\" in the list") }
        return list
    }

    private mutating func subquery(_ offset: Int) throws(QueryError) -> ExpressionSyntax {
        try tokens.advance()
        try tokens.expect("(")
        let path = try tokens.path(nil, token.offset, isPlain: true)
        try tokens.expect(",")
        let variableOffset = token.offset
        let variable = try tokens.name("the subquery's variable")
        guard variable.first == UInt8(ascii: "$"), variable.count > 1 else {
            throw .syntax(
                "expected a variable that begins with \"$\", such as $x, found \"\(variable)\"", at: variableOffset)
        }
        try tokens.expect(",")
        let condition = try nestedCondition()
        try tokens.expect(")")
        try tokens.expect(".")
        guard case .count = token.kind else { throw tokens.unexpected("@count after the subquery") }
        try tokens.advance()
        return .subquery(path, variable: variable, condition)
    }

    private mutating func pathOrAggregate(_ offset: Int) throws(QueryError) -> ExpressionSyntax {
        let path = try tokens.path(nil, offset)
        guard case .aggregate(let function) = token.kind else { return .path(path) }
        try tokens.advance()
        var field: ByteString?
        if try tokens.skip(".") { field = try tokens.name("a property after the aggregate") }
        return .aggregate(path, function, field: field)
    }
}
