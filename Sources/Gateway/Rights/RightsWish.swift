import Rules

/// A user who wants to do something in a partition: what rights are decided for.
struct RightsWish: Sendable {
    var user: String
    /// The kind of user, by how the user has logged in.
    var kind = RuleUser.Kind.normal
    /// The partition as the realm's name has it.
    var partition: String
    /// The partition of a client in flexible mode that says that it came from partition sync, as a realm's name has it.
    var home: String?
}
