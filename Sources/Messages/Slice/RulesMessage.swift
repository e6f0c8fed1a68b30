/// An app's rules changed, or its users. The fan-out brings it to every slice queue, in order with the changesets, so that an owner goes by these
/// rules, and by what these users are now, from then on.
package struct RulesMessage: CodableMessage, Equatable {
    package static let type = "rules"
    package var app: String
    /// The version that is in force; an owner may have heard of a newer one.
    package var version: UInt64
    /// If users have changed: the version that the app's users are at, and the one user whom it was; nil for any of them.
    package var usersVersion: UInt64?
    package var user: String?

    package init(app: String, version: UInt64, usersVersion: UInt64? = nil, user: String? = nil) {
        self.app = app
        self.version = version
        self.usersVersion = usersVersion
        self.user = user
    }
}
