import AdminAPI
import Hummingbird
import Logging
import Storage
import SyncModel

/// `apps/{app}/schema`: what an app's clients have declared, and what of it is taken back.
struct SchemaRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .schema) { _, route in
            let id = try route.value(of: .app)
            _ = try await context.app(id)
            return SchemaDocument(try await context.store.schema(ofApp: id))
        }
        group.answer(.post, .pruneSchema) { request, route in
            let body = try await AdminRequest.body(PruneRequest.self, of: request)
            return try await prune(try await context.app(route.value(of: .app)), body)
        }
    }

    private func prune(_ app: AppRecord, _ request: PruneRequest) async throws -> PruneDocument {
        let stores = try await context.stores(for: ", which tell what is used")
        // Before the realms: what a client declares meanwhile is not looked at.
        let elements = try await context.store.schema(ofApp: app.id)
        var survey = SchemaSurvey()
        for slice in stores.stored { try await survey.read(app.id, in: try await stores.inspector.reader(for: slice)) }
        // What only some schema version has its clients could not declare again.
        let unused = survey.unused(
            of: elements.filter { $0.property.flatMap(SchemaVersion.parts(ofColumn:)) == nil },
            inDevelopmentMode: app.developmentMode, declaredToo: request.declared ?? false)
        let isDry = request.dryRun ?? false
        if !isDry, !unused.isEmpty {
            let count = try await context.store.reduceSchema(ofApp: app.id, by: unused)
            context.logger.notice("schema pruned", metadata: ["app": "\(app.id)", "count": "\(count)"])
            await context.notices.send(app.id)
        }
        return PruneDocument(
            pruned: SchemaDocument(unused), count: unused.count, kept: elements.count - unused.count, dryRun: isDry)
    }
}
