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
    let store: any ControlStore
    let stores: (any StoreInspector)?
    let link: BrokerLink
    let state: CoordinatorState
    let slices: SliceCount
    let clock: WallClock

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get(.terminationPlan) { request, context in
            let id = try context.value(of: .app)
            guard let app = try await store.app(id) else { throw AdminError.notFound("app \(id)") }
            let limit = try AdminRequest.limit(request, default: AdminLimits.plannedClientRealms)
            return try AdminResponse.json(try await plan(app, limit: limit))
        }
    }

    /// Reads the slices' stores beside their owners; memory does not grow with the number of client realms.
    private func plan(_ app: AppRecord, limit: Int) async throws -> PlanDocument {
        guard let stores, let stored = try? stores.slices() else {
            throw AdminError(
                status: .notImplemented, code: "no_store",
                message: "this coordinator cannot read the slices' stores, from which plans are made")
        }
        var plan = TerminationPlan(app: app, at: clock.now(), limit: limit)
        let existing = Set(stored)
        for slice in slices.all where existing.contains(slice) {
            let reader = try await stores.reader(for: slice)
            try await reader.forEachRealm(app: app.id) { realm in
                plan.addRealm()
                try await reader.forEachClientFile(in: realm.id) { plan.add($0, of: realm, slice: slice) }
            }
        }
        return plan.finished(waiting: await waiting())
    }

    private func waiting() async -> PlanDocument.Waiting {
        var waiting = PlanDocument.Waiting()
        for slice in state.cluster.slices(slices, at: clock.now()) {
            let queue = link.topology.slice(slice.slice)
            guard let ready = try? await link.inspect(queue).messageCount, let held = slice.unacknowledged else {
                waiting.unknownSlices.append(slice.slice)
                continue
            }
            waiting.ready += ready
            waiting.unacknowledged += held
        }
        return waiting
    }
}
