import AdminAPI
import Hummingbird
import Storage
import SyncModel

/// The realm that a request is about. Of an app in flexible mode nothing has to be said: it has one. What an app has left behind in a
/// move to the other mode is named.
struct RealmChoice: Sendable {
    /// A word, or extended JSON.
    var partition: String?
    var flexible: Bool?

    init(partition: String?, flexible: Bool?) {
        self.partition = partition
        self.flexible = flexible
    }

    init(_ request: Request) throws(AdminError) {
        self.init(
            partition: AdminRequest.query(.partition, request),
            flexible: try AdminRequest.flag(.flexible, request) ? true : nil)
    }

    /// The partition as realms' names have it, to look for; nil if every realm is meant.
    var wantedPartition: String? { flexible == true ? "" : partition.map { RealmName.partition(fromText: $0) } }

    func name(in app: AppRecord) throws(AdminError) -> RealmName {
        let isFlexible = app.syncMode == .flexible
        // The one realm's partition is empty where answers show it.
        let given = isFlexible && partition?.isEmpty == true ? nil : partition
        if flexible == true {
            guard given == nil else {
                throw .invalid("flexible: the flexible realm has no partition; name one of the two")
            }
            return RealmName(flexible: app.id)
        }
        if let given { return RealmName(app: app.id, partition: RealmName.partition(fromText: given)) }
        guard isFlexible else {
            throw .invalid("partition: app \(app.id) uses partition sync: name the realm's partition")
        }
        return RealmName(flexible: app.id)
    }
}
