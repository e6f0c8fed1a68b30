import AdminAPI
import Documents
import HTTPTypes
import Hummingbird
import Inspection
import Storage
import SyncModel

/// `apps/{app}/views/explain`: what a user's clients would get of an app in flexible mode, and why.
struct ViewRoutes: Sendable {
    let context: CoordinatorContext
    private let places = EventPlaces(
        AdminLimits.viewExplanations, of: "views are explained", code: "too_many_searches")

    /// How long one request may take, however many clients the user has.
    private static let patience = Duration.seconds(600)

    init(context: CoordinatorContext) { self.context = context }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.get, .viewsExplanation) { request, route in
            let report = try await explain(request, app: route.value(of: .app))
            var response = try AdminResponse.json(report)
            // The connection was read to its end, to hear whether anybody waits.
            response.headers[.connection] = "close"
            return response
        }
    }

    private func explain(_ request: Request, app id: String) async throws -> ViewsReport {
        let app = try await context.app(id)
        guard app.syncMode == .flexible else {
            throw AdminError.conflict(
                "sync_mode",
                "app \(id) uses partition sync, where a client gets all of its partition: sluice rules explain says which it may have"
            )
        }
        guard let user = AdminRequest.query(.user, request) else {
            throw AdminError.invalid("user: expected a user's id")
        }
        let question = ViewsReport.Question(
            queries: AdminRequest.query(.query, request), className: AdminRequest.query(.className, request),
            object: AdminRequest.query(.id, request),
            limit: try AdminRequest.limit(request, default: AdminLimits.explainedClients))
        guard question.object == nil || question.className != nil else {
            throw AdminError.invalid("id: expected the object's class beside it")
        }
        let account = try await context.user(user, of: id)
        let rules = try await context.rules.document(of: app)
        let stores = try await context.stores(for: ", from which views are explained")
        let name = RealmName(flexible: id)
        guard let reader = try await stores.reader(of: name, in: context.slices) else { throw AdminError.noRealm(name) }
        let place = try places.require()
        defer { withExtendedLifetime(place) {} }
        var limits = SearchLimits()
        limits.patience = Self.patience
        let budget = SearchBudget(limits)
        return try await request.whileClientWaits {
            try await ViewsReport(question, of: account, in: app, by: rules, from: reader, within: budget)
        }
    }
}
