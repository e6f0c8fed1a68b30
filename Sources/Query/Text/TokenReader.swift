import Changesets

/// A query's tokens, one after the other, with the limits on how many there may be of what they say. Its extensions read the phrases that have no
/// conditions in them.
struct TokenReader {
    private var lexer: Lexer
    private(set) var token: Token
    let limits: QueryLimits
    private var terms = 0

    init(_ text: [UInt8], limits: QueryLimits) throws(QueryError) {
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

    /// Counts a condition or a constant.
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
}
