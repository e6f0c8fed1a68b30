/// The body of a request: a JSON object with no other keys than these, since another one is a mistake.
package protocol AdminBody: Codable, Sendable {
    static var keys: Set<String> { get }
}

/// The body of a request that says nothing.
package struct EmptyRequest: AdminBody {
    package static let keys: Set<String> = []

    package init() {}
}
