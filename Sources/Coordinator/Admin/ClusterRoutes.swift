import Hummingbird
import SyncModel

/// `cluster`: this coordinator, and the workers and slices as their heartbeats tell.
struct ClusterRoutes: Sendable {
    let id: String
    let slices: SliceCount
    let state: CoordinatorState
    let clock: WallClock

    private struct Overview: Encodable {
        var coordinator: String
        var active: Bool
        var slices: Int
    }

    private struct SliceList: Encodable { var slices: [ClusterView.Slice] }
    private struct WorkerList: Encodable { var workers: [ClusterView.Worker] }

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get("cluster") { _, _ in
            try AdminResponse.json(Overview(coordinator: id, active: state.isActive, slices: slices.value))
        }
        group.get("cluster/slices") { _, _ in
            try AdminResponse.json(SliceList(slices: state.cluster.slices(slices, at: clock.now())))
        }
        group.get("cluster/workers") { _, _ in
            try AdminResponse.json(WorkerList(workers: state.cluster.workers()))
        }
    }
}
