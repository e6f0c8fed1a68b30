import SyncModel

/// A control store's knowledge of its cluster as a whole, so that none of the cluster's parts is taken for another's.
package struct ClusterRecord: Sendable, Equatable {
    /// Sixteen hexadecimal digits, made once, at random. Every slice's store and the broker bear it too.
    package var id: String
    /// The beginning of the names of the cluster's queues. Another prefix is another cluster, which has no business here.
    package var prefix: String
    /// A broker has borne the cluster's mark: one that does not is not the cluster's, or has lost what it had.
    package var hasMarkedBroker: Bool

    package init(id: String, prefix: String, hasMarkedBroker: Bool = false) {
        self.id = id
        self.prefix = prefix
        self.hasMarkedBroker = hasMarkedBroker
    }

    /// A cluster that did not exist before.
    package static func new(prefix: String) -> ClusterRecord {
        let bytes = (0..<8).map { _ in UInt8.random(in: .min ... .max) }
        return ClusterRecord(id: HexBytes(bytes).hex, prefix: prefix)
    }
}
