import AdminAPI
import NIOCore

/// Asks the coordinator whether apps exist, before anything is published to one that does not: every slice would set it aside.
struct AppCheck {
    private let settings: ClusterSettings
    private var known: Set<String> = []

    init(_ settings: ClusterSettings) { self.settings = settings }

    /// Lets an app pass that the coordinator cannot be asked about: publishing needs the broker alone.
    /// - Throws: `notFound`.
    mutating func require(_ app: String) async throws {
        guard known.insert(app).inserted else { return }
        do {
            let _: AppDocument = try await AdminClient(settings).ask(AdminRoute.app.path(app), timeout: .seconds(5))
        } catch let failure as CommandFailure where failure.kind != .notFound {
            Printing.note("whether app \(app) exists is not known: \(failure.message)")
        }
    }
}
