import AMQP
import AdminAPI
import Hummingbird
import Messages
import Storage
import SyncModel

/// `apps/{app}/termination-plan`: a dry run of a termination.
struct PlanRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .terminationPlan) { request, route in
            let app = try await context.app(route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.plannedClientRealms)
            return try await plan(app, limit: limit)
        }
    }

    /// Reads the slices' stores beside their owners; memory does not grow with the number of client realms.
    private func plan(_ app: AppRecord, limit: Int) async throws -> PlanDocument {
        let stores = try await context.stores(for: ", from which plans are made")
        var plan = TerminationPlan(app: app, at: context.now, limit: limit)
        try await stores.forEachRealm(of: app.id) { realm, reader in
            plan.addRealm()
            try await reader.forEachClientFile(in: realm.id) { plan.add($0, of: realm, slice: reader.slice) }
        }
        return plan.finished(
            waiting: await waiting(), unsynced: context.state.unacknowledgedBytes(of: app.id, at: context.now))
    }

    private func waiting() async -> PlanDocument.Waiting {
        var waiting = PlanDocument.Waiting()
        for slice in context.state.cluster.slices(context.slices, at: context.now) {
            let queue = context.topology.slice(slice.slice)
            guard let ready = try? await context.link.inspect(queue).messageCount, let held = slice.unacknowledged
            else {
                waiting.unknownSlices.append(slice.slice)
                continue
            }
            waiting.ready += ready
            waiting.unacknowledged += held
        }
        return waiting
    }
}
