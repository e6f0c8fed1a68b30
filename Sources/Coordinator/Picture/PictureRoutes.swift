import AdminAPI
import Hummingbird
import SyncModel

/// What the dashboard shows of the cluster: `cluster/overview`, `cluster/history`, `cluster/events` and one slice.
struct PictureRoutes: Sendable {
    let context: CoordinatorContext
    let events: ClusterEvents

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.get, .overview) { _, _ in try AdminResponse.json(try await events.picture.overview()) }
        group.on(.get, .history) { _, _ in
            try AdminResponse.json(HistoryDocument(points: context.state.history.points))
        }
        group.on(.get, .clusterEvents) { request, _ in
            try await events.response(withSlices: try AdminRequest.flag(.slices, request))
        }
        group.on(.get, .slice) { _, route in
            let text = try route.value(of: .slice)
            guard let number = Int(text), (0..<context.slices.value).contains(number) else {
                throw AdminError.notFound("slice \(text.prefix(20)): there are 0 to \(context.slices.value - 1)")
            }
            let slice = SliceNumber(number)
            let history = context.state.history
            return try AdminResponse.json(
                SlicePictureDocument(
                    slice: context.slicePictures(at: context.now)[number], points: history.points(of: slice),
                    owners: history.owners(of: slice)))
        }
    }
}
