package import SyncModel

/// The findings where a cluster's store should be, before anything is opened or made.
package enum StoredCluster: Sendable, Equatable {
    /// No folder, no control store, or an empty one.
    case none
    /// A control store of a version that did not know of clusters' ids.
    case unnamed
    case named(ClusterRecord)
}

/// How a process comes to the cluster whose store it was told of. Pure.
package enum ClusterEntry: Sendable, Equatable {
    case enter(ClusterRecord)
    /// The store is of a version without ids, and gets one. These slices were made before.
    case adopt(slices: [SliceNumber])
    /// There is nothing yet. A cluster may be made, unless the broker says that there is one.
    case create

    /// - Parameters:
    ///   - slices: those that have a store.
    ///   - count: how many the settings say.
    ///   - prefix: what the settings say.
    ///   - place: of the store, as an operator knows it.
    /// - Throws: `mismatch` if the parts do not belong together.
    package init(
        _ stored: StoredCluster, slices: [SliceNumber], count: SliceCount, prefix: String, place: String
    ) throws(StoreError) {
        switch stored {
        case .named(let cluster):
            guard cluster.prefix == prefix else {
                throw StoreError(
                    .mismatch,
                    """
                    the store at \(place) belongs to the cluster with amqp.prefix "\(cluster.prefix)", and the settings \
                    say "\(prefix)": set SLUICE_AMQP_PREFIX=\(cluster.prefix), or give the other cluster a store.url of \
                    its own. To go on with this store under the new prefix: sluice store adopt --broker
                    """)
            }
            self = .enter(cluster)
        case .unnamed:
            // A worker makes all slices before it takes the first.
            self = .adopt(slices: slices.isEmpty ? [] : count.all)
        case .none:
            guard slices.isEmpty else {
                throw StoreError(
                    .mismatch,
                    """
                    there are \(slices.count.counted("slice")) at \(place), and no control store, which has their apps, users and \
                    campaigns: put it back from the same backup, or restore the whole store (sluice restore)
                    """)
            }
            self = .create
        }
    }
}
