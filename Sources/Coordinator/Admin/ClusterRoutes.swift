import AdminAPI
import Hummingbird
import SyncModel

/// `cluster`: this coordinator, and the workers and slices as their heartbeats tell.
struct ClusterRoutes: Sendable {
    let id: String
    let slices: SliceCount
    let state: CoordinatorState
    let clock: WallClock

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get(.cluster) { _, _ in
            try AdminResponse.json(ClusterDocument(coordinator: id, active: state.isActive, slices: slices.value))
        }
        group.get(.slices) { _, _ in
            try AdminResponse.json(SliceList(slices: state.cluster.slices(slices, at: clock.now())))
        }
        group.get(.workers) { _, _ in
            try AdminResponse.json(WorkerList(workers: state.cluster.workers()))
        }
    }
}
