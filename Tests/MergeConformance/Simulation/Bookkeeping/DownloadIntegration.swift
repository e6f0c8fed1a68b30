package import Changesets
package import Merge

/// What a DOWNLOAD message says about one of its changesets.
package struct DownloadEntry: Hashable, Sendable {
    package var serverVersion: UInt64
    /// The newest of our versions that the server had integrated before it.
    package var clientVersion: UInt64
    package var originTimestamp: UInt64
    package var originFileIdent: UInt64

    package init(serverVersion: UInt64, clientVersion: UInt64, originTimestamp: UInt64, originFileIdent: UInt64) {
        self.serverVersion = serverVersion
        self.clientVersion = clientVersion
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
    }
}

/// A client's side of integration: checks a download, says what it has to be merged with and what to store afterwards
/// (docs/merge.md, "Downloads at the client"; docs/protocol.md, "What the client checks").
package struct DownloadIntegration: Hashable, Sendable {
    /// How the versions of a message's changesets go.
    package enum Order: Hashable, Sendable {
        /// Each changeset has a version of its own.
        case strict
        /// Flexible sync: several may share one.
        case weak
    }

    package let message: SyncProgress
    package let progress: SyncProgress
    package let entries: [DownloadEntry]

    /// - Parameters:
    ///   - progress: as stored.
    ///   - newestLocalVersion: of our history.
    /// - Throws: a violation: the message contradicts what went before, and the connection has to be closed.
    package init(
        _ message: SyncProgress, entries: [DownloadEntry], progress: SyncProgress, order: Order,
        ownFileIdent: UInt64, newestLocalVersion: UInt64
    ) throws(ProtocolViolation) {
        self.message = message
        self.progress = progress
        self.entries = entries
        try progress.check(message, newestLocalVersion: newestLocalVersion)
        var previous = progress.downloadServerVersion
        var base = progress.downloadClientVersion
        for entry in entries {
            guard
                order == .strict ? entry.serverVersion > previous : entry.serverVersion >= previous,
                entry.serverVersion > 0, entry.serverVersion <= message.downloadServerVersion
            else {
                throw ProtocolViolation(
                    .badServerVersion,
                    "expected a changeset after server version \(previous) and up to "
                        + "\(message.downloadServerVersion), found \(entry.serverVersion)")
            }
            guard entry.clientVersion >= base, entry.clientVersion <= message.downloadClientVersion else {
                throw ProtocolViolation(
                    .badClientVersion,
                    "expected a changeset based on our versions \(base) to \(message.downloadClientVersion), "
                        + "found \(entry.clientVersion)")
            }
            guard entry.originFileIdent > 0, entry.originFileIdent != ownFileIdent else {
                throw ProtocolViolation(
                    .badOriginFileIdent,
                    "expected a changeset of another file than \(ownFileIdent), found \(entry.originFileIdent)")
            }
            previous = entry.serverVersion
            base = entry.clientVersion
        }
    }

    /// The merge needs our own non-empty entries after this version; nil if there is nothing to merge.
    ///
    /// - Parameter historyBase: the version up to which our history is trimmed. What is gone was empty or not ours, so
    ///   a base before it loses nothing.
    package func windowBase(historyBase: UInt64) -> UInt64? {
        entries.map { max($0.clientVersion, historyBase) }.min()
    }

    /// The engine's input.
    ///
    /// - Parameter changesets: those of the entries, parsed.
    package func incoming(_ changesets: [Changeset], historyBase: UInt64) -> [IncomingChangeset] {
        zip(entries, changesets).map { entry, changeset in
            IncomingChangeset(
                version: entry.serverVersion, lastIntegratedLocalVersion: max(entry.clientVersion, historyBase),
                originTimestamp: entry.originTimestamp, originFileIdent: entry.originFileIdent,
                changeset: changeset)
        }
    }

    /// What to write, in one transaction with the state.
    ///
    /// - Parameter movesProgress: false for a batch of a bootstrap that others follow: it does not move the progress.
    package func finish(_ result: TransformResult, movesProgress: Bool = true) -> DownloadOutcome {
        DownloadOutcome(
            apply: result.incoming, reciprocals: result.modifiedLocal,
            progress: movesProgress ? progress.advanced(by: message) : progress, remote: entries.last)
    }
}

package struct DownloadOutcome: Equatable, Sendable {
    /// To be applied to the state in this order, with recording off.
    package var apply: [Changeset]
    /// Of our own entries, to be stored, empty ones too.
    package var reciprocals: [TransformResult.Reciprocal]
    package var progress: SyncProgress
    /// What the one history entry for all of them remembers; it has no changeset. Nil if there were none.
    package var remote: DownloadEntry?
}
