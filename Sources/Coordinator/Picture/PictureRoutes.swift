import AdminAPI
import Hummingbird
import Messages
import Storage
import SyncModel

/// What the dashboard shows of the cluster: `cluster/overview`, `cluster/history`, `cluster/events` and one slice.
struct PictureRoutes: Sendable {
    let context: CoordinatorContext
    let events: ClusterEvents

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .overview) { _, _ in await events.picture.overview() }
        group.answer(.get, .history) { request, _ in
            let history = context.state.history
            let isOfSlices = try AdminRequest.flag(.slices, request)
            return HistoryDocument(
                points: history.points, day: try AdminRequest.flag(.day, request) ? history.day : nil,
                strips: isOfSlices ? history.strips(of: context.slices) : nil)
        }
        group.on(.get, .clusterEvents) { request, _ in
            try await events.response(withSlices: try AdminRequest.flag(.slices, request))
        }
        group.answer(.get, .slice) { _, route in
            let slice = try slice(route.value(of: .slice))
            let history = context.state.history
            var document = SlicePictureDocument(
                slice: context.slicePictures(at: context.now)[slice.value], points: history.points(of: slice),
                owners: history.owners(of: slice))
            if let activity = context.state.cluster.activity(of: slice, at: context.now) { document.add(activity) }
            return document
        }
        group.answer(.get, .sliceOwners) { _, route in
            let slice = try slice(route.value(of: .slice))
            guard let stores = context.configuration.stores else { throw AdminError.noStore() }
            guard try await stores.slices().contains(slice) else { return SliceOwnerList(owners: []) }
            let changes = try await stores.reader(for: slice).ownershipHistory(limit: OwnershipChange.kept)
            return SliceOwnerList(owners: changes.reversed().map { SliceOwnerDocument($0, of: slice) })
        }
    }

    /// - Throws: `not_found`.
    private func slice(_ text: String) throws(AdminError) -> SliceNumber {
        guard let number = Int(text), (0..<context.slices.value).contains(number) else {
            throw AdminError.notFound("slice \(text.prefix(20)): there are 0 to \(context.slices.value - 1)")
        }
        return SliceNumber(number)
    }
}

extension SliceOwnerDocument {
    fileprivate init(_ change: OwnershipChange, of slice: SliceNumber) {
        let how: How =
            switch change.reason {
            case .first, .reclaimed: .claimed
            case .released: .released
            case .ownerGone: .dead
            case .leaseExpired: .lease
            }
        self.init(
            slice: slice, epoch: change.epoch.value, worker: change.owner, takenAt: change.at, how: how,
            releasedAt: change.releasedAt)
    }
}

extension SlicePictureDocument {
    fileprivate mutating func add(_ activity: SliceActivity) {
        realms = activity.realms.map {
            Busy(app: $0.realm.app, partition: $0.realm.partition, changesets: $0.changesets)
        }
        apps = activity.apps.map { Busy(app: $0.app, changesets: $0.changesets) }
        refusals = activity.refusals.map { Refusals(app: $0.app, merges: $0.merges, quotas: $0.quotas) }
    }
}
