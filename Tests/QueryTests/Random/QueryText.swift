import Query
import SeededRandom

/// Writes a condition in the query language: plainly, with its constants as arguments, or in as odd a spelling as the grammar allows.
struct QueryText {
    private var tokens: [String] = []
    private(set) var arguments: [QueryArgument] = []
    private let takesArguments: Bool
    private var oddities: SeededGenerator?
    private var depth = 0

    init(_ predicate: Predicate, takesArguments: Bool = false, oddities: SeededGenerator? = nil) {
        self.takesArguments = takesArguments
        self.oddities = oddities
        write(predicate)
    }

    static func plain(_ predicate: Predicate) -> String { QueryText(predicate).text }

    var text: String {
        guard var random = oddities else { return tokens.joined(separator: " ") }
        var text = ""
        for (index, token) in tokens.enumerated() {
            let isTight =
                Self.punctuation.contains(token) || (index > 0 && Self.punctuation.contains(tokens[index - 1]))
            text += random.pick(isTight ? ["", " ", "\n"] : [" ", "  ", "\t", "\r\n "])
            text += random.pick(Self.spellings.first { $0.contains(token) } ?? [token])
        }
        return text
    }

    private static let punctuation = ["(", ")", "{", "}", ",", "[c]"]
    private static let spellings = [
        ["AND", "and", "aNd", "&&"], ["OR", "or", "Or", "||"], ["NOT", "not", "!"], ["==", "="], ["!=", "<>"],
        ["<=", "=<"], [">=", "=>"], ["IN", "in"], ["ANY", "any", "SOME", "some"], ["ALL", "all"], ["NONE", "none"],
        ["BEGINSWITH", "beginsWith"], ["ENDSWITH", "endswith"], ["CONTAINS", "Contains"], ["LIKE", "like"],
        ["BETWEEN", "between"], ["SUBQUERY", "subquery"], ["NULL", "null", "nil", "NIL"], ["true", "TRUE"],
        ["false", "FALSE"], ["TRUEPREDICATE", "truePredicate"], ["FALSEPREDICATE", "falsepredicate"], ["nan", "NaN"],
    ]

    private mutating func write(_ predicate: Predicate) {
        let isWrapped = oddities?.chance(20) == true
        if isWrapped { tokens.append("(") }
        switch predicate {
        case .always(let value): tokens.append(value ? "TRUEPREDICATE" : "FALSEPREDICATE")
        case .all(let parts): write(parts, "AND")
        case .any(let parts): write(parts, "OR")
        case .not(let part):
            tokens.append("NOT")
            write([part], "")
        case .comparison(let left, let op, let right, let ignoresCase):
            write(left)
            tokens.append(op.rawValue)
            if ignoresCase { tokens.append("[c]") }
            write(right)
        case .between(let path, let low, let high):
            write(.path(path))
            tokens += ["BETWEEN", "{", constant(low), ",", constant(high), "}"]
        }
        if isWrapped { tokens.append(")") }
    }

    /// Parts in parentheses where they need them: OR binds loosest, NOT tightest.
    private mutating func write(_ parts: [Predicate], _ separator: String) {
        for (index, part) in parts.enumerated() {
            if index > 0 { tokens.append(separator) }
            let needsParentheses =
                switch part {
                case .any: true
                case .all: separator != "OR"
                default: false
                }
            if needsParentheses { tokens.append("(") }
            write(part)
            if needsParentheses { tokens.append(")") }
        }
    }

    private mutating func write(_ operand: Operand) {
        switch operand {
        case .constant(let value): tokens.append(constant(value))
        case .list(let values, let quantifier):
            if let quantifier { tokens.append(quantifier.rawValue) }
            if takesArguments {
                arguments.append(.list(values.map { $0.stored(as: .double) }))
                tokens.append("$\(arguments.count - 1)")
            } else {
                tokens.append("{")
                tokens += values.map { [constant($0)] }.joined(separator: [","])
                tokens.append("}")
            }
        case .path(let path):
            if let quantifier = path.quantifier { tokens.append(quantifier.rawValue) }
            tokens.append(name(path.hops, path.field?.name))
        case .count(let path): tokens.append(name(path.hops, path.field?.name) + ".@count")
        case .aggregate(let hops, let function, let field):
            tokens.append(
                field.isList
                    ? "\(name(hops, field.name)).@\(function)" : "\(name(hops, nil)).@\(function).\(field.name)")
        case .subquery(let predicate):
            tokens += ["SUBQUERY", "(", name([.subtasks], nil), ",", "$x\(depth)", ","]
            depth += 1
            write(predicate)
            depth -= 1
            tokens += [")", ".@count"]
        }
    }

    /// Returns the name of a path; within a subquery the variable may be left out.
    private mutating func name(_ hops: [Hop], _ field: String?) -> String {
        let variable = depth > 0 && oddities?.chance(50) != true ? ["$x\(depth - 1)"] : []
        return (variable + hops.map(\.rawValue) + (field.map { [$0] } ?? [])).joined(separator: ".")
    }

    private mutating func constant(_ value: Scalar) -> String {
        guard takesArguments else { return value.literal }
        arguments.append(.value(value.stored(as: .double)))
        return "$\(arguments.count - 1)"
    }
}
