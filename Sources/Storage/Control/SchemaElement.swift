/// A class that clients of an app declare, or a property of one, with its type.
package struct SchemaElement: Hashable, Sendable, Codable {
    /// Without the prefix that files give it.
    package var className: String
    /// Nil for the class itself.
    package var property: String?
    /// Of a class its kind and primary key, of a property its type: `object(_id: int)`, `string?`, `list<link Dog>`.
    package var type: String

    package init(className: String, property: String? = nil, type: String) {
        self.className = className
        self.property = property
        self.type = type
    }

    /// Of one app. Whoever gets there writes too many.
    package static let maxPerApp = 20_000

    package static func full(_ app: String, _ count: Int) -> StoreError {
        StoreError(.full, "the schema of app \(app) would have \(count) entries; \(maxPerApp) are allowed")
    }
}

package protocol SchemaStore: Sendable {
    /// In the order of their names; a class comes before its properties.
    func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement]
    /// Adds what is not there.
    /// - Throws: `notFound` for an unknown app, `full` beyond `SchemaElement.maxPerApp`; then nothing is added.
    func extendSchema(ofApp app: String, with elements: [SchemaElement]) async throws(StoreError)
}
