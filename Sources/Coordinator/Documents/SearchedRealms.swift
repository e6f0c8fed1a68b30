import AdminAPI
import Hummingbird
import Storage
import SyncModel

/// The realms that a search is about.
enum SearchedRealms: Sendable, Equatable {
    case one(RealmName)
    /// Realms of an app in partition mode, in this order.
    case several([RealmName])
    /// The realms of all partitions of an app.
    case all

    init(_ request: Request, of app: AppRecord) throws(AdminError) {
        let isAll = try AdminRequest.flag(.allPartitions, request)
        let partitions = AdminRequest.queries(.partition, request)
        guard isAll || partitions.count > 1 else {
            self = .one(try RealmChoice(request).name(in: app))
            return
        }
        guard app.syncMode == .partition, try !AdminRequest.flag(.flexible, request) else {
            throw .invalid(
                "\(isAll ? "allPartitions" : "partition"): the flexible realm of app \(app.id) has no partitions")
        }
        guard !isAll else {
            guard partitions.isEmpty else { throw .invalid("allPartitions: expected no partition beside it") }
            self = .all
            return
        }
        guard partitions.count <= AdminLimits.partitions else {
            throw .invalid(
                "partition: expected at most \(AdminLimits.partitions) of them, came \(partitions.count); allPartitions=true is all"
            )
        }
        var names: [RealmName] = []
        for partition in partitions {
            let name = try RealmChoice(partition: partition, flexible: nil).name(in: app)
            if !names.contains(name) { names.append(name) }
        }
        self = .several(names)
    }
}
