import AdminAPI
import Hummingbird
import SyncModel

/// `cluster`: this coordinator, and the workers and slices as their heartbeats tell.
struct ClusterRoutes: Sendable {
    let context: CoordinatorContext
    private let queues: QueueLook

    init(context: CoordinatorContext) {
        self.context = context
        queues = QueueLook(context: context)
    }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .cluster) { _, _ in
            ClusterDocument(
                coordinator: context.configuration.id, active: context.state.isActive, slices: context.slices.value)
        }
        group.answer(.get, .slices) { _, _ in SliceList(slices: context.slicePictures(at: context.now)) }
        group.answer(.get, .queues) { [queues] _, _ in try await queues.look() }
        group.answer(.get, .processes) { _, _ in
            ProcessList(processes: context.state.processes(at: context.now))
        }
        group.answer(.get, .workers) { _, _ in WorkerList(workers: context.state.cluster.workers()) }
    }
}
