/// Where a client stands against the server: what a client stores, and what every DOWNLOAD message begins with
/// (docs/merge.md, "Downloads at the client"; docs/protocol.md, "Progress").
package struct SyncProgress: Hashable, Sendable {
    /// The client has everything up to this server version.
    package var downloadServerVersion: UInt64
    /// The newest of our versions that the server had integrated at or before that one.
    package var downloadClientVersion: UInt64
    package var latestServerVersion: UInt64
    package var latestServerVersionSalt: UInt64
    /// The newest of our versions that the server has integrated: the acknowledgement of uploads.
    package var uploadClientVersion: UInt64
    /// The server version that we had integrated there. In a message 0 means "as before".
    package var uploadServerVersion: UInt64

    package init(
        downloadServerVersion: UInt64 = 0, downloadClientVersion: UInt64 = 0, latestServerVersion: UInt64 = 0,
        latestServerVersionSalt: UInt64 = 0, uploadClientVersion: UInt64 = 0, uploadServerVersion: UInt64 = 0
    ) {
        self.downloadServerVersion = downloadServerVersion
        self.downloadClientVersion = downloadClientVersion
        self.latestServerVersion = latestServerVersion
        self.latestServerVersionSalt = latestServerVersionSalt
        self.uploadClientVersion = uploadClientVersion
        self.uploadServerVersion = uploadServerVersion
    }

    /// This progress followed by what a message says.
    package func advanced(by message: SyncProgress) -> SyncProgress {
        var progress = message
        if message.uploadServerVersion == 0 { progress.uploadServerVersion = uploadServerVersion }
        return progress
    }

    /// - Throws: a violation if `message` cannot follow this progress.
    package func check(_ message: SyncProgress, newestLocalVersion: UInt64) throws(ProtocolViolation) {
        func expect(_ holds: Bool, _ what: String) throws(ProtocolViolation) {
            if !holds { throw ProtocolViolation(.badProgress, "expected \(what)") }
        }
        try expect(
            message.latestServerVersion >= latestServerVersion,
            "a latest server version from \(latestServerVersion), found \(message.latestServerVersion)")
        try expect(
            message.downloadServerVersion >= downloadServerVersion,
            "a download cursor from \(downloadServerVersion), found \(message.downloadServerVersion)")
        try expect(
            message.downloadClientVersion >= downloadClientVersion,
            "a last integrated client version from \(downloadClientVersion), found \(message.downloadClientVersion)")
        try expect(
            message.uploadClientVersion >= uploadClientVersion,
            "an upload cursor from \(uploadClientVersion), found \(message.uploadClientVersion)")
        try expect(
            message.uploadServerVersion == 0 || message.uploadServerVersion >= uploadServerVersion,
            "an upload cursor at server version \(uploadServerVersion) at least, found \(message.uploadServerVersion)")
        try expect(
            message.uploadClientVersion <= newestLocalVersion,
            "an upload cursor up to our version \(newestLocalVersion), found \(message.uploadClientVersion)")
        try expect(
            message.downloadServerVersion <= message.latestServerVersion,
            "a download cursor up to \(message.latestServerVersion), found \(message.downloadServerVersion)")
        try expect(
            message.downloadClientVersion <= message.uploadClientVersion,
            "a last integrated client version up to \(message.uploadClientVersion), "
                + "found \(message.downloadClientVersion)")
        try expect(
            message.uploadServerVersion <= message.downloadServerVersion,
            "an upload cursor up to server version \(message.downloadServerVersion), "
                + "found \(message.uploadServerVersion)")
    }
}
