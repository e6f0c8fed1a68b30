import Storage

/// Apps' settings as an owner asks for them.
///
/// Whatever ails the control store is no message's fault, nor of any one slice: the owner waits until it is mended, as for a
/// store that is away.
struct AppSettings: Sendable {
    let directory: AppDirectory

    /// Nil for an app that does not exist.
    func app(_ id: String) async throws(StoreError) -> AppRecord? {
        do throws(StoreError) {
            return try await directory.app(id)
        } catch {
            throw Self.passing(error, id)
        }
    }

    /// As they are now.
    func latest(_ id: String) async throws(StoreError) -> AppRecord? {
        do throws(StoreError) {
            return try await directory.latest(id)
        } catch {
            throw Self.passing(error, id)
        }
    }

    /// Those of the classes and properties that the app does not have.
    func missing(_ elements: [SchemaElement], in app: String) async throws(StoreError) -> [SchemaElement] {
        do throws(StoreError) {
            return try await directory.schemas.missing(elements, in: app)
        } catch {
            throw Self.passing(error, app)
        }
    }

    /// Makes classes and properties the app's.
    /// - Throws: `full`.
    func extend(_ app: String, with elements: [SchemaElement]) async throws(StoreError) {
        do throws(StoreError) {
            try await directory.schemas.extend(app, with: elements)
        } catch {
            throw error.code == .full ? error : Self.passing(error, app)
        }
    }

    private static func passing(_ error: StoreError, _ id: String) -> StoreError {
        guard !error.isRetriable else { return error }
        return StoreError(
            .unavailable,
            "the control store cannot tell the settings of app \(id): restore it; sluice doctor looks at it",
            underlying: error)
    }
}
