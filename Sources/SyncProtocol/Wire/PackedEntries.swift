package import SyncModel

/// The entries of a DOWNLOAD as they travel, compressed if it pays: made once for all sessions that receive the same.
package struct PackedEntries: Sendable {
    let body: Body
    package var bytes: Int { body.wire.count }

    package init(_ entries: [HistoryEntry]) throws(SyncProtocolError) {
        var writer = MessageWriter(
            entriesOf: "download", capacity: entries.reduce(0) { $0 + $1.changeset.count + 96 })
        for entry in entries {
            // The last of them is the size before compaction.
            try writer.entry(
                [
                    entry.serverVersion.rawValue, entry.clientVersion.rawValue, entry.timestamp.rawValue,
                    entry.originFile.rawValue, UInt64(entry.changeset.count),
                ], changeset: entry.changeset)
        }
        body = Body(plain: writer.bytes)
    }
}
