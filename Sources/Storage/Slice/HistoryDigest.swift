package import SyncModel

/// The objects that the versions of one stretch of a history touch, in the worker's own encoding: a small fraction of
/// the history itself, so that finding what an upload conflicts with need not read the history.
package struct HistoryDigest: Sendable, Equatable {
    package var key: HistoryKey
    /// The version before the stretch: the digest covers the versions after this one, up to and including `through`.
    package var after: ServerVersion
    package var through: ServerVersion
    package var body: [UInt8]

    package init(key: HistoryKey, after: ServerVersion, through: ServerVersion, body: [UInt8]) {
        self.key = key
        self.after = after
        self.through = through
        self.body = body
    }
}
