package import SyncModel

/// A rule's condition: `apply_when`, a partition's read or write, a filter of objects.
package struct RuleExpression: Sendable {
    /// The condition as it was written, with templates expanded.
    package let source: JSONValue
    let root: RuleNode

    package static let always = RuleExpression(source: .bool(true), root: .constant(true))
    package static let never = RuleExpression(source: .bool(false), root: .constant(false))

    /// The verdict by three-valued logic.
    package func truth(in scope: RuleScope) -> Truth { root.truth(in: scope) }

    /// Whether the condition holds: an unknown does not.
    package func holds(in scope: RuleScope) -> Bool { truth(in: scope) == .true }

    /// Whether it holds for everybody.
    var isUnconditional: Bool { root.constantTruth == .true }
}

/// A condition as a tree.
indirect enum RuleNode: Sendable {
    case constant(Bool)
    /// The conjunction of all parts; true if there are none.
    case every([RuleNode])
    /// The disjunction of the parts; false if there are none.
    case some([RuleNode])
    case not(RuleNode)
    case clause(RuleClause)

    func truth(in scope: RuleScope) -> Truth {
        switch self {
        case .constant(let value): Truth(value)
        case .every(let parts): parts.reduce(.true) { $0 && $1.truth(in: scope) }
        case .some(let parts): parts.reduce(.false) { $0 || $1.truth(in: scope) }
        case .not(let part): !part.truth(in: scope)
        case .clause(let clause): clause.judge(in: scope).truth
        }
    }

    /// The verdict if no scope can change it.
    var constantTruth: Truth? {
        switch self {
        case .constant(let value): return Truth(value)
        case .every(let parts):
            if parts.contains(where: { $0.constantTruth == .false }) { return .false }
            return parts.allSatisfy { $0.constantTruth == .true } ? .true : nil
        case .some(let parts):
            if parts.contains(where: { $0.constantTruth == .true }) { return .true }
            return parts.allSatisfy { $0.constantTruth == .false } ? .false : nil
        case .not(let part): return part.constantTruth.map { !$0 }
        case .clause(let clause):
            guard case .expansion(.constant) = clause.subject, clause.operand.isLiteral else { return nil }
            return clause.judge(in: RuleScope(user: RuleUser(id: ""))).truth
        }
    }

    /// All comparisons.
    var clauses: [RuleClause] {
        switch self {
        case .constant: []
        case .every(let parts), .some(let parts): parts.flatMap(\.clauses)
        case .not(let part): part.clauses
        case .clause(let clause): [clause]
        }
    }

    /// The properties of objects that the condition looks at.
    var properties: Set<String> {
        Set(clauses.compactMap { if case .property(let name) = $0.subject { name } else { nil } })
    }
}
