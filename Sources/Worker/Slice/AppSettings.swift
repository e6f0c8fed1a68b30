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

    private static func passing(_ error: StoreError, _ id: String) -> StoreError {
        guard !error.isRetriable else { return error }
        return StoreError(
            .unavailable,
            "the control store cannot tell the settings of app \(id): restore it; sluice doctor looks at it",
            underlying: error)
    }
}
