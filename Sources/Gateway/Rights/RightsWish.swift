import Rules

/// Who wants to do something where: what rights are decided for.
struct RightsWish: Sendable {
    var user: String
    /// By how the user has logged in.
    var kind = RuleUser.Kind.normal
    /// As the realm's name has it.
    var partition: String
    /// Of a client in flexible mode that says that it came from partition sync: its partition, as a realm's name has it.
    var home: String?
}
