package import SyncModel

/// The rights of a user in a partition, and how the rules come to them.
package struct PartitionExplanation: Codable, Sendable, Equatable {
    /// The partition value; absent if it is no extended JSON, and nothing can be said of it.
    package var partition: JSONValue?
    /// `none`, `read` or `readWrite`.
    package var rights: String
    /// The sentence that says how the rules come to the rights.
    package var reason: String
    /// Absent if there are no partition rules.
    package var read: RuleTrace?
    package var write: RuleTrace?
}

/// The role that a user has for a class's objects, and how it was picked.
package struct RoleExplanation: Codable, Sendable, Equatable {
    package struct Tried: Codable, Sendable, Equatable {
        package var role: String
        package var path: String
        package var applyWhen: RuleTrace
    }

    package enum Outcome: String, Codable, Sendable { case role, incompatible, noneApplies, noRoles }

    package var className: String
    /// Where the list that counts stands; absent if there is none.
    package var list: String?
    package var tried: [Tried]
    package var outcome: Outcome
    /// The role that was picked, or that ended the search; absent if there is none.
    package var role: String?
    /// The sentence that says how the rules come to the outcome.
    package var reason: String
    /// The role as the rules have it.
    package var definition: JSONValue?
}

extension RulesDocument {
    /// - Parameter value: the partition value as a realm's name has it.
    package func explainPartition(_ value: String, for user: RuleUser) -> PartitionExplanation {
        let scope = scope(of: user, partition: value)
        let rights = partitionRights(of: user, partition: value)
        let reason =
            switch rights {
            case _ where partition == nil: "there are no partition rules"
            case .none: "neither write nor read holds"
            case .read: "read holds, write does not"
            case .readWrite where partition?.read.holds(in: scope) == false: "write holds, and who may write may read"
            case .readWrite: "write holds"
            }
        return PartitionExplanation(
            partition: scope.partition?.json, rights: "\(rights)", reason: reason,
            read: partition?.read.trace(in: scope), write: partition?.write.trace(in: scope))
    }

    package func explainRole(ofClass name: String, for user: RuleUser) -> RoleExplanation {
        let scope = scope(of: user, partition: nil)
        let choice = roleChoice(ofClass: name, for: user)
        let tried = choice.tried.map { role, _ in
            RoleExplanation.Tried(
                role: role.name, path: role.path.description, applyWhen: role.applyWhen.trace(in: scope))
        }
        func explanation(_ outcome: RoleExplanation.Outcome, _ role: RuleRole?, _ reason: String) -> RoleExplanation {
            RoleExplanation(
                className: name, list: choice.path?.description, tried: tried, outcome: outcome, role: role?.name,
                reason: reason, definition: role?.source)
        }
        switch choice.outcome {
        case .role(let role):
            return explanation(.role, role, "it is the first of the list whose apply_when is true")
        case .incompatible(let role, let reason):
            return explanation(
                .incompatible, role,
                "role \(role.name.shown) is the first that applies, and cannot be used here: \(reason); later roles are not tried"
            )
        case .doubtful(let unknown, let role):
            return explanation(
                .noneApplies, nil,
                "it is unknown if role \(unknown.name.shown) applies, for what it looks at is not known of the user, and role"
                    + " \(role.name.shown) behind it would give more: so the user has none")
        case .noneApplies:
            return explanation(
                .noneApplies, nil,
                choice.tried.isEmpty
                    ? "the list is empty: nobody may read or write the class"
                    : "no apply_when is true; the default roles are not tried where a class has roles of its own")
        case .noRoles: return explanation(.noRoles, nil, "the class has no roles, and there are no default roles")
        }
    }
}
