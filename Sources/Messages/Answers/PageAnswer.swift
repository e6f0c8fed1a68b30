/// A page of history for one client file: own and empty versions are left out, the cursors account for them.
package struct PageAnswer: Message, Equatable {
    package static let type = "page-answer"
    package var generation: UInt64
    /// The cursor that the page follows, so that a late or doubled answer is noticed.
    package var after: DownloadCursor
    package var entries: [HistoryEntry]
    /// Where the session stands once it has the entries.
    package var download: DownloadCursor
    package var latest: SaltedVersion
    package var upload: UploadCursor
    /// Estimate of what is still to come after this page.
    package var downloadableBytes: UInt64

    package init(
        generation: UInt64, after: DownloadCursor, entries: [HistoryEntry], download: DownloadCursor,
        latest: SaltedVersion, upload: UploadCursor, downloadableBytes: UInt64
    ) {
        self.generation = generation
        self.after = after
        self.entries = entries
        self.download = download
        self.latest = latest
        self.upload = upload
        self.downloadableBytes = downloadableBytes
    }

    /// Whether the session has everything once it has this page.
    package var isComplete: Bool { download.serverVersion == latest.version }

    package func binaryBody() -> [UInt8]? {
        var writer = WireWriter(capacity: entries.reduce(96) { $0 + $1.changeset.bytes.count + 32 })
        writer.byte(1)
        for number in [
            generation, after.serverVersion, after.clientVersion, download.serverVersion, download.clientVersion,
            latest.version, latest.salt, upload.clientVersion, upload.serverVersion, downloadableBytes,
        ] { writer.number(number) }
        writer.entries(entries)
        return writer.bytes
    }

    package init(binaryBody: [UInt8]) throws {
        var reader = WireReader(binaryBody, messageType: Self.type)
        try reader.expectVersion1()
        generation = try reader.number()
        after = DownloadCursor(serverVersion: try reader.number(), clientVersion: try reader.number())
        download = DownloadCursor(serverVersion: try reader.number(), clientVersion: try reader.number())
        latest = SaltedVersion(version: try reader.number(), salt: try reader.number())
        upload = UploadCursor(clientVersion: try reader.number(), serverVersion: try reader.number())
        downloadableBytes = try reader.number()
        entries = try reader.entries()
        try reader.finish()
    }
}
