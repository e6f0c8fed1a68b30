package import SyncModel

/// The rules of an app, which say who may do what: checked, with templates expanded. `RulesCheck` makes the document from what
/// operators send and from what is stored.
package struct RulesDocument: Sendable {
    /// A partition's rules. Who may write may read, whatever `read` says.
    package struct Partition: Sendable {
        package var read: RuleExpression
        package var write: RuleExpression

        /// What to do as the two expressions say in a scope.
        func rights(in scope: RuleScope) -> PartitionRights {
            if write.holds(in: scope) { return .readWrite }
            return read.holds(in: scope) ? .read : .none
        }
    }

    /// The document as JSON, with nothing left to expand.
    package let source: JSONValue
    /// The maker of the document, if that was no operator: `upgrade`, `development`.
    package let generated: String?
    /// Nil: nobody may read or write any partition.
    package let partition: Partition?
    /// The roles in the classes that have no roles of their own; nil if there are none.
    package let defaultRoles: [RuleRole]?
    /// An empty list shuts everybody out of its class.
    package let classes: [String: [RuleRole]]
    package let constants: RuleConstants
    package let queryable: Queryable

    /// The document as it is stored: equal documents are equal texts.
    package var bytes: [UInt8] { JSONWriter.bytes(of: source) }

    // MARK: Deciding

    /// The rights of a user in the realm of a partition.
    ///
    /// - Parameter partition: the partition value as the realm's name has it, in extended JSON.
    package func partitionRights(of user: RuleUser, partition value: String) -> PartitionRights {
        partition?.rights(in: scope(of: user, partition: value)) ?? .none
    }

    func scope(of user: RuleUser, partition value: String?) -> RuleScope {
        RuleScope(user: user, partition: value.flatMap { RuleValue(partition: $0) }, constants: constants)
    }

    /// The roles of a class, and where they stand; nil if there are none at all.
    func roles(ofClass name: String) -> (roles: [RuleRole], path: JSONPointer)? {
        if let own = classes[name] { return (own, .root.key("classes").key(name)) }
        return defaultRoles.map { ($0, .root.key("defaultRoles")) }
    }
}

/// The bounds of a document.
package enum RulesLimits {
    package static let bytes = 262_144
    /// Objects and lists within one another, the document itself among them.
    package static let depth = 16
    package static let rolesPerList = 64
    package static let nameBytes = 100
}
