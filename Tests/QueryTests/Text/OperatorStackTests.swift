import TestSupport
import Testing

@testable import Query

/// How operators take their operands, without the text that they come from.
struct OperatorStackTests {
    private var tokens: TokenReader
    private var stack = OperatorStack(depth: 0, limits: QueryLimits())

    init() throws { tokens = try TokenReader([], limits: QueryLimits()) }

    private static func text(_ condition: ConditionSyntax) -> String {
        switch condition {
        case .constant(let isTrue): isTrue ? "1" : "0"
        case .all(let parts): "(" + parts.map(text).joined(separator: "&") + ")"
        case .any(let parts): "(" + parts.map(text).joined(separator: "|") + ")"
        case .not(let inner): "!" + text(inner)
        default: "?"
        }
    }

    private mutating func push(_ symbols: String) throws {
        for symbol in symbols {
            switch symbol {
            case "1", "0": stack.push(.constant(symbol == "1"), at: 0)
            case "&": try stack.push(.and, at: 0, counting: &tokens)
            case "|": try stack.push(.or, at: 0, counting: &tokens)
            case "!": try stack.open(.not, at: 0)
            case "(": try stack.open(.parenthesis, at: 0)
            default: try expectTrue(stack.close(counting: &tokens))
            }
        }
    }

    @Test(arguments: [
        ("1|0&1", "(1|(0&1))"), ("1&0|1", "((1&0)|1)"), ("1&1&1", "(1&1&1)"), ("!1&0", "(!1&0)"),
        ("!(1|0)&1", "(!(1|0)&1)"), ("(1&0)&1", "(1&0&1)"), ("1&(0&1)", "(1&(0&1))"),
    ])
    mutating func whatBindsMoreTightlyIsTakenFirst(_ symbols: String, _ read: String) throws {
        try push(symbols)
        let condition = try stack.finish(counting: &tokens)
        expectEqual(Self.text(condition), read)
        expectEqual(stack.depth, 0)
    }

    @Test mutating func anOpenParenthesisIsNamed() throws {
        try push("(1|0")
        let error = #expect(throws: QueryError.self) { try stack.finish(counting: &tokens) }
        expectTrue(error?.message.contains("parenthesis at byte 0") == true)
    }

    @Test mutating func nestingIsBoundedWithWhatIsAround() throws {
        var limits = QueryLimits()
        limits.depth = 3
        stack = OperatorStack(depth: 2, limits: limits)
        try stack.open(.not, at: 0)
        let error = #expect(throws: QueryError.self) { try stack.open(.parenthesis, at: 1) }
        expectTrue(error?.message.contains("3 levels") == true)
    }
}
