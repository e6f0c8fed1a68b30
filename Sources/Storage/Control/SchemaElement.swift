/// A class that clients of an app declare, or a property of one, with its type.
package struct SchemaElement: Hashable, Sendable, Codable {
    /// The class as apps call it: without the prefix `class_` that realm files put before it.
    package var className: String
    /// Nil for the class itself.
    package var property: String?
    /// A class's kind and primary key (`object(_id: int)`), or a property's type (`string?`, `list<link Dog>`).
    package var type: String

    package init(className: String, property: String? = nil, type: String) {
        self.className = className
        self.property = property
        self.type = type
    }

    /// The most classes and properties one app may declare. An upload that would exceed it is refused with error 225.
    package static let maxPerApp = 20_000

    package static func full(_ app: String, _ count: Int) -> StoreError {
        StoreError(.full, "the schema of app \(app) would have \(count) entries; \(maxPerApp) are allowed")
    }
}

package protocol SchemaStore: Sendable {
    /// An app's classes and properties in the order of their names; a class comes before its properties.
    func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement]
    /// Adds the elements that the app does not have yet.
    /// - Throws: `notFound` for an unknown app, `full` beyond `SchemaElement.maxPerApp`; then nothing is added.
    func extendSchema(ofApp app: String, with elements: [SchemaElement]) async throws(StoreError)
}
