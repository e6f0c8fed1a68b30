import Merge
import SyncModel

/// Decides what an upload means for the server, before anything is parsed or merged (docs/merge.md, "Uploads at the
/// server"; docs/protocol.md, "What the server checks").
///
/// Delivery is at least once and in no certain order; this makes the effect exactly once and in order.
enum UploadIntegration {
    enum Plan: Hashable, Sendable {
        /// All of it is integrated already: acknowledge it again, change nothing.
        case duplicate
        /// Something before it is missing. The session has to end and the client to upload again from `expected`.
        case gap(expected: UInt64, got: UInt64)
        case accept(UploadAcceptance)
        case violation(ProtocolViolation)
    }

    /// - Parameters:
    ///   - progress: as stored for the client file.
    ///   - entries: all changesets of the message, in order.
    ///   - currentServerVersion: the newest version of the realm's history.
    static func plan(
        _ header: UploadHeader, entries: [UploadEntry], progress: ClientFileProgress, currentServerVersion: UInt64
    ) -> Plan {
        do throws(ProtocolViolation) {
            try checkMessage(header, entries)
            if let follows = header.follows, follows > progress.clientVersion {
                return .gap(expected: progress.clientVersion, got: follows)
            }
            if header.progress.clientVersion < progress.clientVersion { return .duplicate }
            if header.progress == progress.cursor, header.lockedServerVersion <= progress.lockedServerVersion {
                return .duplicate
            }
            let newEntries = entries.firstIndex { $0.cursor.clientVersion > progress.clientVersion } ?? entries.count
            try check(header, entries[newEntries...], progress, currentServerVersion)
            return .accept(
                UploadAcceptance(
                    header: header, progress: progress, entries: entries, newEntries: newEntries..<entries.count))
        } catch {
            return .violation(error)
        }
    }

    /// What has to be true of the message in itself.
    private static func checkMessage(_ header: UploadHeader, _ entries: [UploadEntry]) throws(ProtocolViolation) {
        guard header.progress.isConsistent else {
            throw ProtocolViolation(.badServerVersion, "expected a possible progress, found \(header.progress)")
        }
        var previous = UploadCursor(clientVersion: 0, serverVersion: 0)
        var lowest = header.follows ?? 0
        for entry in entries {
            guard entry.cursor.clientVersion > lowest else {
                throw ProtocolViolation(
                    .badClientVersion,
                    "expected a changeset of a client version above \(lowest), found \(entry.cursor.clientVersion)")
            }
            guard entry.cursor.isConsistent(with: previous), entry.cursor.isConsistent else {
                throw ProtocolViolation(
                    .badServerVersion, "expected a changeset that can follow \(previous), found \(entry.cursor)")
            }
            guard entry.originFileIdent == 0 else {
                throw ProtocolViolation(
                    .badOriginFileIdent,
                    "expected a changeset of the client's own, found one of file \(entry.originFileIdent)")
            }
            previous = entry.cursor
            lowest = previous.clientVersion
        }
        guard header.progress.clientVersion >= lowest else {
            throw ProtocolViolation(
                .badClientVersion,
                "expected progress to client version \(lowest) at least, found \(header.progress.clientVersion)")
        }
        guard header.progress.isConsistent(with: previous) else {
            throw ProtocolViolation(
                .badServerVersion, "expected progress that can follow \(previous), found \(header.progress)")
        }
    }

    /// What has to be true of a message that is not behind the stored progress.
    private static func check(
        _ header: UploadHeader, _ newEntries: ArraySlice<UploadEntry>, _ progress: ClientFileProgress,
        _ currentServerVersion: UInt64
    ) throws(ProtocolViolation) {
        for cursor in newEntries.map(\.cursor) + [header.progress]
        where !cursor.isConsistent(with: progress.cursor) {
            throw ProtocolViolation(
                .badServerVersion, "expected what can follow \(progress.cursor), found \(cursor)")
        }
        // Changesets are no further than the header, as checked above.
        guard header.progress.serverVersion <= currentServerVersion else {
            throw ProtocolViolation(
                .badServerVersion,
                "expected a server version up to \(currentServerVersion), found \(header.progress.serverVersion)")
        }
        guard header.lockedServerVersion >= progress.lockedServerVersion,
            header.lockedServerVersion <= currentServerVersion
        else {
            throw ProtocolViolation(
                .badServerVersion,
                "expected a locked server version from \(progress.lockedServerVersion) to \(currentServerVersion), "
                    + "found \(header.lockedServerVersion)")
        }
    }
}
