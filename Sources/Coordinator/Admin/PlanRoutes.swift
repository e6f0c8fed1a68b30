import AMQP
import AdminAPI
import HTTPTypes
import Hummingbird
import Messages
import Operations
import Storage
import SyncModel

/// `apps/{app}/termination-plan`: a dry run of a termination.
struct PlanRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.get, .terminationPlan) { request, route in
            let app = try await context.app(route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.plannedClientRealms)
            return try AdminResponse.json(try await plan(app, limit: limit))
        }
    }

    /// Reads the slices' stores beside their owners; memory does not grow with the number of client realms.
    private func plan(_ app: AppRecord, limit: Int) async throws -> PlanDocument {
        guard let stores = context.configuration.stores, let stored = try? await stores.slices() else {
            throw AdminError(
                status: .notImplemented, code: "no_store",
                message: "this coordinator cannot read the slices' stores, from which plans are made")
        }
        var plan = TerminationPlan(app: app, at: context.now, limit: limit)
        let existing = Set(stored)
        for slice in context.slices.all where existing.contains(slice) {
            let reader = try await stores.reader(for: slice)
            try await reader.forEachRealm(app: app.id) { realm in
                plan.addRealm()
                try await reader.forEachClientFile(in: realm.id) { plan.add($0, of: realm, slice: slice) }
            }
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
