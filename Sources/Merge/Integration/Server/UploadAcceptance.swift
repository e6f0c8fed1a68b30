package import Changesets

/// An upload that is to be integrated now, and what integrating it does to the server's books.
package struct UploadAcceptance: Hashable, Sendable {
    package let header: UploadHeader
    package let progress: ClientFileProgress
    package let entries: [UploadEntry]
    /// Which of the entries are to be integrated; those before are integrated already. Empty if the client only reports
    /// progress.
    package let newEntries: Range<Int>

    init(header: UploadHeader, progress: ClientFileProgress, entries: [UploadEntry], newEntries: Range<Int>) {
        self.header = header
        self.progress = progress
        self.entries = entries
        self.newEntries = newEntries
    }

    /// The merge needs the history after this version, and the client's reciprocals of it; nil if there is nothing to
    /// merge. Entries that came from this client, and those that were empty when they were made, do not take part.
    package var windowBase: UInt64? { entries[newEntries].map(\.cursor.serverVersion).min() }

    /// The engine's input.
    ///
    /// - Parameter changesets: those of `newEntries`, parsed.
    package func incoming(_ changesets: [Changeset], from clientFileIdent: UInt64) -> [IncomingChangeset] {
        zip(entries[newEntries], changesets).map { entry, changeset in
            IncomingChangeset(
                version: entry.cursor.clientVersion, lastIntegratedLocalVersion: entry.cursor.serverVersion,
                originTimestamp: entry.originTimestamp, originFileIdent: clientFileIdent, changeset: changeset)
        }
    }

    /// What to write, in one transaction with the state.
    package func finish(
        _ result: TransformResult, from clientFileIdent: UInt64, currentServerVersion: UInt64
    ) -> UploadOutcome {
        var outcome = UploadOutcome(progress: progress)
        outcome.progress.lockedServerVersion = max(progress.lockedServerVersion, header.lockedServerVersion)
        if header.progress.clientVersion > progress.clientVersion {
            outcome.progress.clientVersion = header.progress.clientVersion
            if header.progress.serverVersion > progress.rhBaseVersion {
                outcome.progress.rhBaseVersion = header.progress.serverVersion
                outcome.dropReciprocalsThrough = header.progress.serverVersion
            }
        }
        outcome.reciprocals = result.modifiedLocal.filter { $0.version > outcome.progress.rhBaseVersion }
        var version = currentServerVersion
        for (entry, changeset) in zip(entries[newEntries], result.incoming) {
            version += 1
            outcome.history.append(
                UploadOutcome.HistoryEntry(
                    serverVersion: version, clientFileIdent: clientFileIdent,
                    clientVersion: entry.cursor.clientVersion, originTimestamp: entry.originTimestamp,
                    changeset: changeset))
        }
        return outcome
    }
}

package struct UploadOutcome: Equatable, Sendable {
    /// One for every changeset that was uploaded, even if merging has left nothing of it: each takes a server version.
    package struct HistoryEntry: Equatable, Sendable {
        package var serverVersion: UInt64
        package var clientFileIdent: UInt64
        package var clientVersion: UInt64
        package var originTimestamp: UInt64
        package var changeset: Changeset
    }

    package var progress: ClientFileProgress
    package var history: [HistoryEntry] = []
    /// The client's reciprocals to store, empty ones too.
    package var reciprocals: [TransformResult.Reciprocal] = []
    /// The client's reciprocals up to this server version are of no more use.
    package var dropReciprocalsThrough: UInt64?

    init(progress: ClientFileProgress) { self.progress = progress }
}
