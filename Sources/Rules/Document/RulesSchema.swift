package import SyncModel

/// The classes and properties that an app's clients have declared, as far as a check of rules looks at them.
package struct RulesSchema: Sendable {
    /// The type of each property, such as `objectId` or `list<string>?`, by class and property.
    package var classes: [String: [String: String]]

    package init(classes: [String: [String: String]]) { self.classes = classes }
}

/// The part of an app that a check of its rules looks at.
package struct RulesApp: Sendable {
    /// Nil where it is not known yet.
    package var syncMode: SyncMode?
    /// Whether everybody who has an e-mail address here has shown that mail to it arrives.
    package var emailsAreConfirmed: Bool

    package init(syncMode: SyncMode?, emailsAreConfirmed: Bool) {
        self.syncMode = syncMode
        self.emailsAreConfirmed = emailsAreConfirmed
    }
}
