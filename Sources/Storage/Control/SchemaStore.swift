package import SyncModel

extension SchemaElement {
    /// The most classes and properties one app may declare. An upload that would exceed it is refused with error 225.
    package static let maxPerApp = 20_000

    package static func full(_ app: String, _ count: Int) -> StoreError {
        StoreError(
            .full,
            "the schema of app \(app) would have \(count) entries; \(maxPerApp) are allowed (its operator can take unused ones"
                + " back: sluice schema prune --app \(app))")
    }

    package static func full(_ app: String, of author: SchemaAuthor, _ count: Int) -> StoreError {
        StoreError(
            .full,
            "user \(author.user) would have added \(count) entries to the schema of app \(app); \(author.limit) are allowed"
                + " (quota \(Quota.userSchemaElements.rawValue))")
    }
}

/// A user whose client adds to an app's schema.
package struct SchemaAuthor: Sendable, Equatable {
    package var user: String
    /// How many of the app's classes and properties may have come from this user.
    package var limit: Int

    package init(user: String, limit: Int) {
        self.user = user
        self.limit = limit
    }
}

package protocol SchemaStore: Sendable {
    /// An app's classes and properties in the order of their names; a class comes before its properties.
    func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement]
    /// Returns those of the elements that an app has, in any order. The cost depends on how many elements are given,
    /// not on how large the schema is.
    func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement]
    /// Adds the elements that the app does not have yet.
    ///
    /// - Parameter author: whose they are then; nil: an operator's.
    /// - Throws: `notFound` for an unknown app, `full` beyond `SchemaElement.maxPerApp` and beyond the author's limit; then
    ///   nothing is added.
    func extendSchema(
        ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError)
    /// Takes elements away; whoever remembers the app's schema finds out by its `schemaVersion`.
    ///
    /// - Returns: how many of them the app had.
    /// - Throws: `notFound` for an unknown app.
    func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int
}

extension SchemaStore {
    /// Adds the elements that the app does not have yet, as an operator.
    package func extendSchema(ofApp app: String, with elements: [SchemaElement]) async throws(StoreError) {
        try await extendSchema(ofApp: app, with: elements, by: nil)
    }
}
