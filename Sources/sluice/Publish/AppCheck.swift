import AdminAPI
import NIOCore
import SyncModel

/// Asks the coordinator whether apps exist and how they sync, before anything is published to one that does not, which every slice
/// would set aside, or to a realm that no client of the app opens.
struct AppCheck {
    private let settings: ClusterSettings
    /// The sync modes of apps; nil of one that the coordinator could not be asked about.
    private var known: [String: String?] = [:]

    init(_ settings: ClusterSettings) { self.settings = settings }

    /// Lets an app pass that the coordinator cannot be asked about: publishing needs the broker alone.
    /// - Throws: `notFound`; `badInput` for a realm of the mode that the app does not have.
    mutating func require(_ event: Event) async throws {
        guard let mode = try await mode(of: event.app), let realm = event.realm,
            realm.isFlexible != (mode == SyncMode.flexible.rawValue)
        else { return }
        throw CommandFailure(
            .badInput,
            realm.isFlexible
                ? "app \(event.app) uses partition sync: name the realm with --partition, or publish --unchecked"
                : "app \(event.app) uses flexible sync and has one realm: name it with --flexible, or publish --unchecked"
        )
    }

    private mutating func mode(of app: String) async throws -> String? {
        if let mode = known[app] { return mode }
        var mode: String?
        do {
            let document: AppDocument = try await AdminClient(settings).ask(
                AdminRoute.app.path(app), timeout: .seconds(5))
            mode = document.syncMode
        } catch let failure as CommandFailure where failure.kind != .notFound {
            Printing.note("whether app \(app) exists is not known (--unchecked does not ask): \(failure.message)")
        }
        known.updateValue(mode, forKey: app)
        return mode
    }
}
