/// The body of a request: a JSON object with no other keys than these, since another one is a mistake.
package protocol AdminBody: Codable, Sendable {
    static var keys: Set<String> { get }
    /// The keys that may be null; of the others null is a mistake, not the same as to leave them out.
    static var nullableKeys: Set<String> { get }
    /// The keys whose values are no secrets: the audit log has them. Of the others it has the names.
    static var shownKeys: Set<String> { get }
}

extension AdminBody {
    package static var shownKeys: Set<String> { [] }
    package static var nullableKeys: Set<String> { [] }
}

/// The body of a request that says nothing.
package struct EmptyRequest: AdminBody {
    package static let keys: Set<String> = []

    package init() {}
}
