package import SyncModel
import Synchronization

/// The classes and properties that the clients of each app may have, as this process last saw it.
///
/// An app's schema only grows, but for what an operator takes away, which changes its version. So what was seen once holds for as
/// long as the version does, and only what was not seen is worth a reading. At most `maxElements` of all apps are remembered;
/// beyond them all but those of the app in hand are forgotten.
package final class AppSchemas: Sendable {
    private struct Known {
        var version: UInt64
        var elements: Set<SchemaElement> = []
    }

    package static let maxElements = 200_000
    private let store: any SchemaStore
    private let known = Mutex<[String: Known]>([:])

    package init(store: any SchemaStore) { self.store = store }

    /// All classes and properties of the app, read from the store.
    package func all(of app: AppRecord) async throws(StoreError) -> [SchemaElement] {
        try await store.schema(ofApp: app.id)
    }

    /// Returns those of the elements that the app does not have.
    package func missing(_ elements: [SchemaElement], in app: AppRecord) async throws(StoreError) -> [SchemaElement] {
        let unseen = unseen(elements, in: app)
        guard !unseen.isEmpty else { return [] }
        let found = try await store.schema(ofApp: app.id, among: unseen)
        remember(found, of: app)
        let known = Set(found)
        return unseen.filter { !known.contains($0) }
    }

    /// Adds what the app does not have.
    /// - Throws: `full`.
    package func extend(
        _ app: AppRecord, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        let missing = Set(try await missing(elements, in: app))
        guard !missing.isEmpty else { return }
        try await store.extendSchema(ofApp: app.id, with: Array(missing), by: author)
        remember(missing, of: app)
    }

    private func unseen(_ elements: [SchemaElement], in app: AppRecord) -> [SchemaElement] {
        known.withLock { known in
            guard let seen = known[app.id], seen.version >= app.schemaVersion else { return elements }
            return elements.filter { !seen.elements.contains($0) }
        }
    }

    private func remember(_ elements: some Sequence<SchemaElement>, of app: AppRecord) {
        known.withLock { known in
            // What was read by an older version may have been taken away since.
            if let newer = known[app.id]?.version, newer > app.schemaVersion { return }
            if known[app.id]?.version != app.schemaVersion { known[app.id] = Known(version: app.schemaVersion) }
            known[app.id]?.elements.formUnion(elements)
            guard known.count > 1, known.values.reduce(0, { $0 + $1.elements.count }) > Self.maxElements else { return }
            known = known.filter { $0.key == app.id }
        }
    }
}
