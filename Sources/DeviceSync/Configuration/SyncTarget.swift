import SyncModel
internal import SyncProtocol

/// What of an app's data a realm syncs.
enum SyncTarget: Sendable {
    /// Everything in one partition.
    case partition(PartitionValue)
    /// The objects that the realm's subscriptions select.
    case flexible

    private var partition: PartitionValue? { if case .partition(let partition) = self { partition } else { nil } }

    var mode: SyncMode { partition == nil ? .flexible : .partition }

    /// The text by which a file says what it belongs to: a partition's path, or a word that no path is.
    var claim: String { partition?.path ?? "flexible" }

    /// The realm's name in the cluster.
    func realmName(app: String) -> RealmName {
        partition.map { RealmName(app: app, partition: $0.canonicalText) } ?? RealmName(flexible: app)
    }

    /// The name of the realm's file, without extension (docs/client.md, "Users").
    var fileName: String { partition?.fileName ?? "flx_sync_default" }
}

extension SyncConfiguration {
    var target: SyncTarget {
        partitionValue.map { .partition(PartitionValue($0) ?? .null) } ?? .flexible
    }
}
