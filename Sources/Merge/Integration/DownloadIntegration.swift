package import SyncModel

/// One DOWNLOAD on its way into a client's copy: which of the client's own writes it has to be merged with, what the merge
/// makes of both, and what is to be stored afterwards (docs/merge.md, "Downloads at the client").
///
/// Does no I/O. That the DOWNLOAD can follow the stored progress has been checked when it came (`DownloadChecker`).
package struct DownloadIntegration: Sendable {
    /// The downloaded changesets, as merging has left them.
    package private(set) var changesets: [IncomingChangeset]
    private let message: SyncProgress
    private var reciprocals: [TransformResult.Reciprocal] = []

    /// - Parameters:
    ///   - message: the progress that the DOWNLOAD carries.
    ///   - changesets: all of its entries, in order.
    package init(_ message: SyncProgress, changesets: [IncomingChangeset]) {
        self.message = message
        self.changesets = changesets
    }

    /// The client's own writes after this version take part in the merge; nil if there is nothing to merge.
    ///
    /// It may lie before what the client's history still holds: what was trimmed was empty or not the client's own.
    package var base: ClientVersion? { changesets.map(\.lastIntegratedLocalVersion).min().map(ClientVersion.init(_:)) }

    /// Merges the DOWNLOAD with the client's own writes after `base`.
    ///
    /// - Parameter newest: the newest version of the client's history.
    package mutating func merge<Engine: ChangesetMerging>(
        over entries: [LocalChangeset], through newest: ClientVersion, using engine: Engine
    ) throws(Engine.Failure) {
        guard !changesets.isEmpty, !entries.isEmpty else { return }
        let result = try engine.transform(
            incoming: changesets, over: entries, currentLocalVersion: newest.rawValue)
        changesets.replace(with: result.incoming)
        reciprocals += result.modifiedLocal
    }

    /// The outcome to store beside the state that the merged changesets make, in one transaction with it.
    ///
    /// - Parameter progress: as stored.
    package func outcome(after progress: SyncProgress) -> DownloadOutcome {
        var advanced = message
        // 0 means "as before".
        if message.upload.serverVersion == 0 { advanced.upload.serverVersion = progress.upload.serverVersion }
        return DownloadOutcome(
            progress: advanced, reciprocals: reciprocals,
            originTimestamp: SyncTimestamp(changesets.last?.originTimestamp ?? 0),
            originFile: FileIdent(changesets.last?.originFileIdent ?? 0))
    }
}

/// The changes of a download in a client's books.
package struct DownloadOutcome: Sendable {
    package var progress: SyncProgress
    /// The client's own writes as they have become, to be stored beside them; empty ones too.
    package var reciprocals: [TransformResult.Reciprocal]
    /// Time and author of the one entry that the client's history gets for all that came. It holds no changeset, and remembers
    /// the download cursor's server version. Without a changeset in the DOWNLOAD both are 0: the entry counts as an empty write
    /// of the client's own.
    package var originTimestamp: SyncTimestamp
    package var originFile: FileIdent
}
