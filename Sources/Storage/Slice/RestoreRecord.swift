/// A slice was put back to an earlier state. Clients may be ahead of it: each of them resets, once, and all under one campaign
/// of their app, which brings back what they still have.
package struct RestoreRecord: Sendable, Equatable {
    /// The beginning of the campaigns' names; no two restores have the same.
    package var id: String
    /// Milliseconds of Unix time.
    package var at: UInt64

    package init(id: String, at: UInt64) {
        self.id = id
        self.at = at
    }

    package func campaign(ofApp app: String) -> String { "\(id).\(app)" }

    /// So many idents of each realm are taken for given out since the state that was put back.
    package static let lostIdents: UInt64 = 1_000_000
    /// How long a realm that comes into being may be one that was lost, in milliseconds.
    package static let memory: UInt64 = 90 * 86_400_000

    /// How far epochs are raised: beyond what owners may have had since.
    package static let lostEpochs: UInt64 = 1_000

    /// Whether what a client file's row says of the client was true before the restore only: the client was not there since.
    package func isNews(to file: ClientFileRecord) -> Bool { file.createdAt <= at && file.lastSeen <= at }
}
