package import SyncModel

/// The rights of some users to the objects of a class. `ClosedRole` is what sync enforces of it.
package struct RuleRole: Sendable {
    package var name: String
    package var applyWhen: RuleExpression
    /// The objects that may be read, and written, as far as the rest of the role allows.
    package var readFilter: RuleExpression
    package var writeFilter: RuleExpression
    package var insert: RuleExpression
    package var delete: RuleExpression
    /// Whole-object permission; nil leaves it to the fields.
    package var read: Bool?
    package var write: Bool?
    package var fields: [String: FieldRule]
    package var additionalFields: FieldRule
    /// The role as JSON, and where it stands.
    package var source: JSONValue
    var path: JSONPointer

    package struct FieldRule: Sendable, Equatable {
        package var read = false
        package var write = false
        /// The rules of an embedded object's own properties.
        package var fields: [String: FieldRule] = [:]

        package init() {}

        var allowsWriting: Bool { write || fields.values.contains(where: \.allowsWriting) }
    }

    /// The properties that the role's filters look at.
    var properties: Set<String> {
        [readFilter, writeFilter, insert, delete].reduce(into: []) { $0.formUnion($1.root.properties) }
    }

    /// Why the role cannot be used for a class's objects; nil if it can. A default role may look at a property that is not
    /// queryable in every class.
    func incompatibility(with className: String, _ queryable: Queryable) -> String? {
        let missing = properties.filter { !queryable.includes($0, of: className) }.sorted()
        guard !missing.isEmpty else { return nil }
        return "its filters look at \(missing.shown), not queryable in class \(className.shown)"
    }
}
