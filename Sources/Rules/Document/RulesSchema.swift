/// The classes and properties that an app's clients have declared, as far as a check of rules looks at them.
package struct RulesSchema: Sendable {
    /// By class and property, the property's type, such as `objectId` or `list<string>?`.
    package var classes: [String: [String: String]]

    package init(classes: [String: [String: String]]) { self.classes = classes }
}
