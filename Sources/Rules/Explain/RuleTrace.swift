package import SyncModel

/// How a condition came to its verdict, part by part.
package struct RuleTrace: Codable, Sendable, Equatable {
    /// The comparison as JSON; or `all of`, `any of`, `not`, `true`, `false`.
    package var condition: String
    package var verdict: Truth
    /// The place of a comparison in the rules, and what its two sides were; absent for what is unset.
    package var path: String?
    package var subject: JSONValue?
    package var operand: JSONValue?
    /// The parts that a condition other than a comparison is made of.
    package var parts: [RuleTrace]?
}

extension RuleExpression {
    /// How the condition comes to its verdict. `truth` says the same.
    package func trace(in scope: RuleScope) -> RuleTrace { root.trace(in: scope) }
}

extension RuleNode {
    fileprivate func trace(in scope: RuleScope) -> RuleTrace {
        switch self {
        case .constant(let value): return RuleTrace(condition: "\(value)", verdict: Truth(value))
        case .every(let parts):
            let parts = parts.map { $0.trace(in: scope) }
            return RuleTrace(
                condition: "all of", verdict: parts.reduce(.true) { $0 && $1.verdict }, parts: parts)
        case .some(let parts):
            let parts = parts.map { $0.trace(in: scope) }
            return RuleTrace(
                condition: "any of", verdict: parts.reduce(.false) { $0 || $1.verdict }, parts: parts)
        case .not(let part):
            let part = part.trace(in: scope)
            return RuleTrace(condition: "not", verdict: !part.verdict, parts: [part])
        case .clause(let clause):
            let judgement = clause.judge(in: scope)
            return RuleTrace(
                condition: clause.text, verdict: judgement.truth, path: clause.path.description,
                subject: judgement.subject?.json, operand: judgement.operand?.json)
        }
    }
}

extension RuleClause {
    fileprivate var text: String {
        let name =
            switch subject {
            case .property(let name): name
            case .expansion(let expansion): expansion.word
            }
        return JSONWriter.text(of: .object([name: source]))
    }
}

extension Expansion {
    /// The expansion as it is written in rules.
    var word: String {
        switch self {
        case .constant(let value): "%%\(value)"
        case .partition: "%%partition"
        case .user(let path): "%%user." + path.joined(separator: ".")
        case .values(let path): "%%values." + path.joined(separator: ".")
        case .environment(let path): "%%environment." + path.joined(separator: ".")
        }
    }
}
