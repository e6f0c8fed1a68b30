import SyncModel
internal import SyncProtocol

/// What of an app's data a realm syncs.
enum SyncTarget: Sendable {
    /// Everything in one partition.
    case partition(PartitionValue)
    /// What the realm's subscriptions select.
    case flexible

    var mode: SyncMode {
        switch self {
        case .partition: .partition
        case .flexible: .flexible
        }
    }

    /// The text by which a file says what it belongs to: a partition's path, or a word that no path is.
    var claim: String {
        switch self {
        case .partition(let partition): partition.path
        case .flexible: "flexible"
        }
    }

    /// The realm's name in the cluster.
    func realmName(app: String) -> RealmName {
        switch self {
        case .partition(let partition): RealmName(app: app, partition: partition.canonicalText)
        case .flexible: RealmName(flexible: app)
        }
    }

    /// The name of the realm's file, without extension (docs/client.md, "Users").
    var fileName: String {
        switch self {
        case .partition(let partition): partition.fileName
        case .flexible: "flx_sync_default"
        }
    }
}

extension SyncConfiguration {
    var target: SyncTarget {
        partitionValue.map { .partition(PartitionValue($0) ?? .null) } ?? .flexible
    }
}
