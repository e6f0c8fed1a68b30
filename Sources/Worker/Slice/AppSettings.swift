import Rules
import Storage
import SyncModel

/// Apps' settings as an owner asks for them.
///
/// Whatever ails the control store is no message's fault, nor of any one slice: the owner waits until it is mended, as for a
/// store that is away.
struct AppSettings: Sendable {
    let directory: AppDirectory

    /// Nil for an app that does not exist.
    func app(_ id: String) async throws(StoreError) -> AppRecord? {
        try await Self.asking(about: id) { () throws(StoreError) in try await directory.app(id) }
    }

    /// Reads the app's settings as they are now.
    func latest(_ id: String) async throws(StoreError) -> AppRecord? {
        try await Self.asking(about: id) { () throws(StoreError) in try await directory.latest(id) }
    }

    /// The rules that are in force by an app's record; nil if it never had any.
    func rules(of app: AppRecord) async throws(StoreError) -> RulesDocument? {
        try await Self.asking(about: app.id) { () throws(StoreError) in try await directory.rules.document(of: app) }
    }

    /// The users that have changed since a version of the app's users; nil if that cannot be told.
    /// - Throws: `denied` where the worker may not read that.
    func userChanges(of app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        try await directory.userChanges(of: app, after: version)
    }

    /// Returns those of some classes and properties that the app does not have.
    func missing(_ elements: [SchemaElement], in app: AppRecord) async throws(StoreError) -> [SchemaElement] {
        try await Self.asking(about: app.id) { () throws(StoreError) in
            try await directory.schemas.missing(elements, in: app)
        }
    }

    /// All classes and properties of the app, in the order of their names.
    func schema(of app: AppRecord) async throws(StoreError) -> [SchemaElement] {
        try await Self.asking(about: app.id) { () throws(StoreError) in try await directory.schemas.all(of: app) }
    }

    /// Makes classes and properties the app's.
    /// - Throws: `full`.
    func extend(
        _ app: AppRecord, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        try await Self.asking(about: app.id) { () throws(StoreError) in
            try await directory.schemas.extend(app, with: elements, by: author)
        }
    }

    private static func asking<Answer>(
        about app: String, _ body: () async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        do throws(StoreError) {
            return try await body()
        } catch {
            guard !error.isRetriable, error.code != .full else { throw error }
            throw StoreError(
                .unavailable,
                "the control store cannot tell the settings of app \(app): restore it; sluice doctor looks at it",
                underlying: error)
        }
    }
}
