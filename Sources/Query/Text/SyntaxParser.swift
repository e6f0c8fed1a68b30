import Changesets

/// Reads a query's text into its syntax tree. Conditions and arithmetic go over an explicit stack, so that neither a long chain nor
/// deep parentheses need the machine's.
struct SyntaxParser {
    private var lexer: Lexer
    private(set) var token: Token
    let limits: QueryLimits
    private var terms = 0
    var depth = 0
    private var subqueryDepth = 0

    static func parse(_ text: [UInt8], limits: QueryLimits) throws(QueryError) -> QuerySyntax {
        guard text.count <= limits.bytes else {
            throw .limit("expected a query of at most \(limits.bytes) bytes, found \(text.count)", at: limits.bytes)
        }
        var parser = try SyntaxParser(text, limits: limits)
        let condition = try parser.condition()
        let arrangement = try parser.arrangement()
        guard parser.token.kind == .end else {
            throw parser.unexpected("and, or, SORT, DISTINCT, LIMIT or the end")
        }
        return QuerySyntax(condition: condition, arrangement: arrangement)
    }

    /// A region alone, as arguments carry it.
    static func parseRegion(_ text: [UInt8], limits: QueryLimits) throws(QueryError) -> GeoSyntax {
        var parser = try SyntaxParser(text, limits: limits)
        let region = try parser.region()
        guard parser.token.kind == .end else { throw parser.unexpected("the end of the region") }
        return region
    }

    private init(_ text: [UInt8], limits: QueryLimits) throws(QueryError) {
        lexer = Lexer(text)
        self.limits = limits
        token = Token(kind: .end, range: 0..<0)
        try advance()
    }

    mutating func advance() throws(QueryError) { token = try lexer.next() }

    func unexpected(_ expected: String) -> QueryError {
        QueryError(.syntax, "expected \(expected), found \(found)", at: token.offset)
    }

    /// The token as it is written, cut short.
    private var found: String {
        if token.kind == .end { return "the end" }
        let text = lexer.bytes[token.range]
        return "\"\(String(decoding: text.prefix(40), as: UTF8.self))\(text.count > 40 ? "..." : "")\""
    }

    /// The bytes of the token.
    var tokenText: ByteString { ByteString(Array(lexer.bytes[token.range])) }

    mutating func skip(_ symbol: Character) throws(QueryError) -> Bool {
        guard case .symbol(let found) = token.kind, found == symbol.asciiValue else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: Character) throws(QueryError) {
        guard try skip(symbol) else { throw unexpected("\"\(symbol)\"") }
    }

    mutating func count(at offset: Int) throws(QueryError) {
        terms += 1
        guard terms <= limits.terms else {
            throw .limit("expected at most \(limits.terms) conditions and constants, found more", at: offset)
        }
    }

    mutating func check(pathElements count: Int) throws(QueryError) {
        guard count < limits.pathElements else {
            throw .limit("expected a path of at most \(limits.pathElements) elements, found more", at: token.offset)
        }
    }

    mutating func enter(at offset: Int) throws(QueryError) {
        depth += 1
        guard depth <= limits.depth else {
            throw .limit("expected at most \(limits.depth) levels of nesting, found more", at: offset)
        }
    }

    /// The condition of a subquery.
    mutating func nestedCondition() throws(QueryError) -> ConditionSyntax {
        subqueryDepth += 1
        guard subqueryDepth <= limits.subqueryDepth else {
            throw .limit(
                "expected at most \(limits.subqueryDepth) subqueries within each other, found more", at: token.offset)
        }
        defer { subqueryDepth -= 1 }
        return try condition()
    }
}
