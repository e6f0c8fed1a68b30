/// The choice of the role in a class's list that is a user's, with the reason.
package struct RoleChoice: Sendable {
    package enum Outcome: Sendable {
        case role(RuleRole)
        /// The first role that applies cannot be used for the class: access is denied, and no later role is tried.
        case incompatible(RuleRole, reason: String)
        /// The first role that applies would give more than one before it, of which it is unknown if it applies: access is denied.
        case doubtful(RuleRole, before: RuleRole)
        case noneApplies
        /// The class has no list of its own, and there are no default roles.
        case noRoles
    }

    /// The roles that were tried, in their order, with the verdicts of their `apply_when`.
    package let tried: [(role: RuleRole, verdict: Truth)]
    package let outcome: Outcome
    /// The list that counts; nil if there is none.
    let path: JSONPointer?

    /// The role whose permissions are the user's; nil if the user has none.
    package var role: RuleRole? { if case .role(let role) = outcome { role } else { nil } }
}

extension RulesDocument {
    /// Picks the role that a user has for a class's objects.
    ///
    /// A class that has roles of its own is decided by them alone: where none of them applies, the default roles are not tried.
    package func roleChoice(ofClass className: String, for user: RuleUser) -> RoleChoice {
        guard let (roles, path) = roles(ofClass: className) else {
            return RoleChoice(tried: [], outcome: .noRoles, path: nil)
        }
        var (tried, outcome) = Self.choose(of: roles, in: scope(of: user, partition: nil))
        if case .role(let role) = outcome, let reason = role.incompatibility(with: className, queryable) {
            outcome = .incompatible(role, reason: reason)
        }
        return RoleChoice(tried: tried, outcome: outcome, path: path)
    }

    /// The first role of a list whose `apply_when` is true, whatever the class.
    ///
    /// Who may be shut out, or let at little, by a role before it comes to nothing: that role's condition is unknown for what is
    /// unset, and nobody is to get more by something that is missing.
    static func choose(
        of roles: [RuleRole], in scope: RuleScope
    ) -> (tried: [(role: RuleRole, verdict: Truth)], outcome: RoleChoice.Outcome) {
        var tried: [(role: RuleRole, verdict: Truth)] = []
        for role in roles {
            let verdict = role.applyWhen.truth(in: scope)
            tried.append((role, verdict))
            guard verdict == .true else { continue }
            let doubtful = tried.first {
                $0.verdict == .unknown && !RoleComparison.gives(role, noMoreThan: $0.role)
            }
            return (tried, doubtful.map { .doubtful($0.role, before: role) } ?? .role(role))
        }
        return (tried, .noneApplies)
    }
}
