package import SyncModel

extension WireWriter {
    package mutating func number(_ value: some WireInteger) { number(value.rawValue) }

    mutating func cursor(_ cursor: UploadCursor) {
        number(cursor.clientVersion)
        number(cursor.serverVersion)
    }

    mutating func cursor(_ cursor: DownloadCursor) {
        number(cursor.serverVersion)
        number(cursor.clientVersion)
    }

    mutating func entries(_ entries: [HistoryEntry]) {
        number(UInt64(entries.count))
        for entry in entries {
            number(entry.serverVersion)
            number(entry.clientVersion)
            number(entry.originFile)
            number(entry.timestamp)
            blob(entry.changeset)
        }
    }

    mutating func version(_ latest: SaltedServerVersion) {
        number(latest.version)
        number(latest.salt)
    }
}

extension WireReader {
    package mutating func number<Value: WireInteger>() throws(MessageError) -> Value {
        Value(rawValue: try number())
    }

    mutating func uploadCursor() throws(MessageError) -> UploadCursor {
        UploadCursor(clientVersion: try number(), serverVersion: try number())
    }

    mutating func downloadCursor() throws(MessageError) -> DownloadCursor {
        DownloadCursor(serverVersion: try number(), clientVersion: try number())
    }

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

    mutating func version() throws(MessageError) -> SaltedServerVersion {
        SaltedServerVersion(version: try number(), salt: try number())
    }
}
