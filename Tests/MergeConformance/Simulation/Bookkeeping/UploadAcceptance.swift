import Changesets
import Merge

/// An upload that is to be integrated now, and what integrating it does to the server's books.
struct UploadAcceptance: Hashable, Sendable {
    let header: UploadHeader
    let progress: ClientFileProgress
    let entries: [UploadEntry]
    /// Which of the entries are to be integrated; those before are integrated already. Empty if the client only reports
    /// progress.
    let newEntries: Range<Int>

    init(header: UploadHeader, progress: ClientFileProgress, entries: [UploadEntry], newEntries: Range<Int>) {
        self.header = header
        self.progress = progress
        self.entries = entries
        self.newEntries = newEntries
    }

    /// The merge needs the history after this version, and the client's reciprocals of it; nil if there is nothing to
    /// merge. Entries that came from this client, and those that were empty when they were made, do not take part.
    var windowBase: UInt64? { entries[newEntries].map(\.cursor.serverVersion).min() }

    /// The engine's input.
    ///
    /// - Parameter changesets: those of `newEntries`, parsed.
    func incoming(_ changesets: [Changeset], from clientFileIdent: UInt64) -> [IncomingChangeset] {
        zip(entries[newEntries], changesets).map { entry, changeset in
            IncomingChangeset(
                version: entry.cursor.clientVersion, lastIntegratedLocalVersion: entry.cursor.serverVersion,
                originTimestamp: entry.originTimestamp, originFileIdent: clientFileIdent, changeset: changeset)
        }
    }

    /// What to write, in one transaction with the state.
    func finish(
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

struct UploadOutcome: Equatable, Sendable {
    /// One for every changeset that was uploaded, even if merging has left nothing of it: each takes a server version.
    struct HistoryEntry: Equatable, Sendable {
        var serverVersion: UInt64
        var clientFileIdent: UInt64
        var clientVersion: UInt64
        var originTimestamp: UInt64
        var changeset: Changeset
    }

    var progress: ClientFileProgress
    var history: [HistoryEntry] = []
    /// The client's reciprocals to store, empty ones too.
    var reciprocals: [TransformResult.Reciprocal] = []
    /// The client's reciprocals up to this server version are of no more use.
    var dropReciprocalsThrough: UInt64?

    init(progress: ClientFileProgress) { self.progress = progress }
}
