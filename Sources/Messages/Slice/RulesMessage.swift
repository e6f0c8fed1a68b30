/// An app's rules changed. The fan-out brings it to every slice queue, in order with the changesets, so that an owner goes by these
/// rules from then on.
package struct RulesMessage: Message, Equatable {
    package static let type = "rules"
    package var app: String
    /// The version that is in force; an owner may have heard of a newer one.
    package var version: UInt64

    package init(app: String, version: UInt64) {
        self.app = app
        self.version = version
    }
}
