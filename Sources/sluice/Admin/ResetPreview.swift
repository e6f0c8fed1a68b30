import AdminAPI
import NIOCore
import SyncModel

/// What a command that makes clients reset would do, for the question before it.
struct ResetPreview: Encodable {
    var app: String
    var partition: String?
    /// Client realms that would reset, and how many of them have ever uploaded; nil where that could not be found out.
    var clientRealms: Int?
    var writers: Int?
    /// Why it could not be found out.
    var problem: String?

    /// A termination of an app.
    static func termination(of app: String, _ admin: AdminClient) async throws -> ResetPreview {
        do {
            let plan: PlanDocument = try await admin.ask(
                AdminRoute.terminationPlan.path(app, query: [(.limit, "1")]), timeout: .seconds(60))
            return ResetPreview(
                app: app, clientRealms: plan.clientRealms + plan.alreadyResetting, writers: plan.writers)
        } catch let failure as CommandFailure where failure.kind != .notFound {
            return ResetPreview(app: app, problem: failure.message)
        }
    }

    /// A reset of one realm, or of one client realm of it.
    static func reset(
        of app: String, _ partition: String?, _ clientFile: UInt64?, _ admin: AdminClient
    ) async throws -> ResetPreview {
        struct Found: Decodable {
            struct Realm: Decodable { var clientFiles: [String: Int] }
            var realm: Realm
        }
        var preview = ResetPreview(app: app, partition: partition)
        do {
            let found: Found = try await admin.ask(
                AdminRoute.realm.path(app, query: [(.partition, partition)]), timeout: .seconds(60))
            preview.clientRealms = clientFile == nil ? found.realm.clientFiles["live"] ?? 0 : 1
        } catch let failure as CommandFailure where failure.kind != .notFound {
            preview.problem = failure.message
        }
        return preview
    }

    /// The effect in a sentence.
    var text: String {
        let place = partition.map { "realm \(RealmName.shown($0)) of app \(app)" } ?? "app \(app)"
        guard let clientRealms else {
            return "client realms of \(place) would have to reset (how many is not known: \(problem ?? "nobody says"))"
        }
        let clients = clientRealms.counted("client realm")
        return "\(clients) of \(place) would have to reset"
            + (writers.map { "; \($0) of them have ever uploaded" } ?? "")
    }
}
