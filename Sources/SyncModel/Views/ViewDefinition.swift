/// The definition of a view: a subscription set, and the roles of its user. Equal definitions select the same of every realm.
package struct ViewDefinition: Hashable, Codable, Sendable {
    /// The number that the client gave the set.
    package var version: UInt64
    /// The query of each class: JSON as the client sent it.
    package var queries: String
    /// The rights of the user: roles, closed (`ClosedRoles.text`).
    package var roles: String

    package init(version: UInt64, queries: String, roles: String) {
        self.version = version
        self.queries = queries
        self.roles = roles
    }

    /// Set 0, which is empty and which every client realm begins with.
    package static func empty(roles: String) -> ViewDefinition {
        ViewDefinition(version: 0, queries: "{}", roles: roles)
    }
}
