/// One version of a realm's history as gateways get it.
package struct HistoryEntry: Codable, Sendable, Equatable {
    package var serverVersion: UInt64
    /// In a notice the author's own version of it, 0 if the server is the author. In a page, which is for one client file,
    /// the receiver's newest version integrated before it: what a DOWNLOAD entry says.
    package var clientVersion: UInt64
    /// The author's client file ident; 1 for the server.
    package var originFile: UInt64
    /// Milliseconds since 2015-01-01T00:00:00Z, by the author's clock.
    package var timestamp: UInt64
    /// Normalized form; zero bytes if the merge left nothing of it (such a version is never sent to clients).
    package var changeset: HexBytes

    package init(
        serverVersion: UInt64, clientVersion: UInt64, originFile: UInt64, timestamp: UInt64, changeset: [UInt8]
    ) {
        self.serverVersion = serverVersion
        self.clientVersion = clientVersion
        self.originFile = originFile
        self.timestamp = timestamp
        self.changeset = HexBytes(changeset)
    }
}

extension WireWriter {
    mutating func entries(_ entries: [HistoryEntry]) {
        number(UInt64(entries.count))
        for entry in entries {
            number(entry.serverVersion)
            number(entry.clientVersion)
            number(entry.originFile)
            number(entry.timestamp)
            blob(entry.changeset.bytes)
        }
    }
}

extension WireReader {
    mutating func entries() throws(MessageError) -> [HistoryEntry] {
        let count = try count(minimumSize: 5)
        var entries: [HistoryEntry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            entries.append(
                HistoryEntry(
                    serverVersion: try number(), clientVersion: try number(), originFile: try number(),
                    timestamp: try number(), changeset: try blob()))
        }
        return entries
    }
}
