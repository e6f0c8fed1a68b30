/// Tells of two roles whether one gives anybody more than the other, whatever the user and the object. Where that cannot be told
/// it says so.
struct RoleComparison {
    /// Conditions that are looked at before it is given up: nested ones can be compared in many ways.
    private static let mostSteps = 10_000
    private var steps = 0

    /// Says that a user who has the first role instead of the second can read and write nothing that the second does not allow.
    static func gives(_ one: RuleRole, noMoreThan other: RuleRole) -> Bool {
        var comparison = RoleComparison()
        return comparison.gives(one, noMoreThan: other)
    }

    private mutating func gives(_ one: RuleRole, noMoreThan other: RuleRole) -> Bool {
        // What may be done with a property depends on no user.
        let nobody = RuleScope(user: RuleUser(id: ""))
        let (mine, theirs) = (ClosedRole(one, in: nobody), ClosedRole(other, in: nobody))
        // No property is called so: it stands for all that neither names.
        let names = Set(one.fields.keys).union(other.fields.keys).union([""])
        let readable = names.filter { mine.mayRead($0) || !(one.fields[$0]?.fields.isEmpty ?? true) }
        let writable = names.filter { mine.mayWrite($0) || one.fields[$0]?.allowsWriting == true }
        if !readable.isEmpty {
            guard readable.allSatisfy({ covers(one, other, $0, theirs.mayRead($0)) }),
                implies(one.readFilter.root, .some([other.readFilter.root, other.writeFilter.root])),
                implies(one.writeFilter.root, .some([other.readFilter.root, other.writeFilter.root]))
            else { return false }
        }
        guard !writable.isEmpty else { return true }
        return writable.allSatisfy { covers(one, other, $0, theirs.mayWrite($0)) }
            && implies(one.writeFilter.root, other.writeFilter.root) && implies(one.insert.root, other.insert.root)
            && implies(one.delete.root, other.delete.root)
    }

    /// What one role says of the inside of a property is compared with a whole permission of the other's, or with the same words.
    private func covers(_ one: RuleRole, _ other: RuleRole, _ field: String, _ isAllowed: Bool) -> Bool {
        isAllowed
            || (one.read == other.read && one.write == other.write
                && one.fields[field, default: one.additionalFields]
                    == other.fields[field, default: other.additionalFields])
    }

    /// Says that whenever the first condition holds the second does.
    private mutating func implies(_ one: RuleNode, _ other: RuleNode) -> Bool {
        steps += 1
        guard steps <= Self.mostSteps else { return false }
        if one.constantTruth == .false || other.constantTruth == .true || one.isSame(as: other) { return true }
        if case .every(let parts) = other { return parts.allSatisfy { implies(one, $0) } }
        if case .some(let parts) = one { return parts.allSatisfy { implies($0, other) } }
        if case .every(let parts) = one, parts.contains(where: { implies($0, other) }) { return true }
        if case .some(let parts) = other { return parts.contains { implies(one, $0) } }
        return false
    }
}

extension RuleNode {
    /// Says that the two are written alike.
    fileprivate func isSame(as other: RuleNode) -> Bool {
        switch (self, other) {
        case (.constant(let one), .constant(let other)): one == other
        case (.every(let one), .every(let other)), (.some(let one), .some(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.isSame(as: $1) }
        case (.not(let one), .not(let other)): one.isSame(as: other)
        case (.clause(let one), .clause(let other)):
            one.subject == other.subject && one.comparison == other.comparison && one.source == other.source
        default: false
        }
    }

    /// The expansions for which a user may have no value, where the verdict is unknown without one; none if it is always known.
    var doubts: [Expansion] { clauses.flatMap(\.doubts) }
}

extension RuleClause {
    fileprivate var doubts: [Expansion] {
        guard comparison != .exists else { return [] }
        var doubts: [Expansion] = []
        if case .expansion(let expansion) = subject, expansion.mayBeUnset, !operand.isLiteral {
            doubts.append(expansion)
        }
        // Beside a literal what is unset is null, but for a list to look in.
        var isPlain = false
        if case .expansion(.constant) = subject, case .expansion = operand {
            isPlain = ![.isIn, .isNotIn, .holdsAll].contains(comparison)
        }
        return isPlain ? doubts : doubts + operand.doubts
    }
}

extension RuleClause.Operand {
    /// Whether the operand stands in the rule itself.
    var isLiteral: Bool {
        switch self {
        case .literal, .expansion(.constant): true
        case .list(let operands): operands.allSatisfy(\.isLiteral)
        case .converted(_, let operand): operand.isLiteral
        case .expansion, .unset: false
        }
    }

    fileprivate var doubts: [Expansion] {
        switch self {
        case .expansion(let expansion): expansion.mayBeUnset ? [expansion] : []
        case .list(let operands): operands.flatMap(\.doubts)
        case .converted(_, let operand): operand.doubts
        case .literal, .unset: []
        }
    }
}

extension Expansion {
    fileprivate var mayBeUnset: Bool {
        switch self {
        case .user(let path): path != ["id"] && path != ["type"] && path != ["identities"]
        case .environment(let path): path != ["tag"]
        case .constant, .partition, .values: false
        }
    }
}
