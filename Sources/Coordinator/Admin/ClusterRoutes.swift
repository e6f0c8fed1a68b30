import AdminAPI
import Hummingbird
import SyncModel

/// `cluster`: this coordinator, and the workers and slices as their heartbeats tell.
struct ClusterRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.get, .cluster) { _, _ in
            try AdminResponse.json(
                ClusterDocument(
                    coordinator: context.configuration.id, active: context.state.isActive, slices: context.slices.value)
            )
        }
        group.on(.get, .slices) { _, _ in
            try AdminResponse.json(SliceList(slices: context.slicePictures(at: context.now)))
        }
        group.on(.get, .workers) { _, _ in
            try AdminResponse.json(WorkerList(workers: context.state.cluster.workers()))
        }
    }
}
