import Synchronization

/// What classes and properties the clients of each app may have, as this process last saw it.
///
/// Nothing is ever taken away from an app's schema, so what was seen once holds for good; only what was not seen is worth a
/// reading. At most `maxElements` of all apps are remembered; beyond them all but those of the app in hand are forgotten.
package final class AppSchemas: Sendable {
    package static let maxElements = 200_000
    private let store: any SchemaStore
    private let known = Mutex<[String: Set<SchemaElement>]>([:])

    package init(store: any SchemaStore) { self.store = store }

    /// Those of the elements that the app does not have.
    package func missing(_ elements: [SchemaElement], in app: String) async throws(StoreError) -> [SchemaElement] {
        let unseen = unseen(elements, in: app)
        guard !unseen.isEmpty else { return [] }
        remember(try await store.schema(ofApp: app), of: app)
        return self.unseen(unseen, in: app)
    }

    /// Adds what the app does not have.
    /// - Throws: `full`.
    package func extend(_ app: String, with elements: [SchemaElement]) async throws(StoreError) {
        let missing = Set(try await missing(elements, in: app))
        guard !missing.isEmpty else { return }
        let count = known.withLock { $0[app]?.count ?? 0 } + missing.count
        guard count <= SchemaElement.maxPerApp else { throw SchemaElement.full(app, count) }
        try await store.extendSchema(ofApp: app, with: Array(missing))
        remember(missing, of: app)
    }

    private func unseen(_ elements: [SchemaElement], in app: String) -> [SchemaElement] {
        known.withLock { known in
            guard let seen = known[app] else { return elements }
            return elements.filter { !seen.contains($0) }
        }
    }

    private func remember(_ elements: some Sequence<SchemaElement>, of app: String) {
        known.withLock { known in
            known[app, default: []].formUnion(elements)
            guard known.count > 1, known.values.reduce(0, { $0 + $1.count }) > Self.maxElements else { return }
            known = known.filter { $0.key == app }
        }
    }
}
