import Foundation
package import SyncModel

/// A page of history for one client file: own and empty versions are left out, the cursors account for them.
package struct PageAnswer: CodableMessage, Equatable {
    package static let type = "page-answer"
    package var generation: UInt64
    /// The cursor that the page follows, so that a late or doubled answer is noticed.
    package var after: DownloadCursor
    package var entries: [HistoryEntry]
    /// Where the session stands once it has the entries.
    package var download: DownloadCursor
    package var latest: SaltedServerVersion
    package var upload: UploadCursor
    /// Estimate of what is still to come after this page.
    package var downloadableBytes: UInt64
    /// The additional part of a page of a flexible realm.
    package var view: ViewPart?

    package init(
        generation: UInt64, after: DownloadCursor, entries: [HistoryEntry], download: DownloadCursor,
        latest: SaltedServerVersion, upload: UploadCursor, downloadableBytes: UInt64, view: ViewPart? = nil
    ) {
        self.generation = generation
        self.after = after
        self.entries = entries
        self.download = download
        self.latest = latest
        self.upload = upload
        self.downloadableBytes = downloadableBytes
        self.view = view
    }

    /// Whether the session has everything once it has this page.
    package var isComplete: Bool { download.serverVersion == latest.version }

    package func binaryBody() -> [UInt8]? {
        var writer = WireWriter(capacity: entries.reduce(96) { $0 + $1.changeset.count + 32 })
        // The small part of flexible realms is JSON.
        let part = view.flatMap { try? JSONEncoder.message.encode($0) }
        writer.byte(part == nil ? 1 : 2)
        if let part {
            writer.blob(Array(part))
            writer.blob(view?.schema?.body ?? [])
        }
        writer.number(generation)
        writer.cursor(after)
        writer.cursor(download)
        writer.version(latest)
        writer.cursor(upload)
        writer.number(downloadableBytes)
        writer.entries(entries)
        return writer.bytes
    }

    package init(binaryBody: [UInt8]) throws {
        var reader = WireReader(binaryBody, messageType: Self.type)
        if try reader.version(atMost: 2) == 2 {
            view = try JSONDecoder().decode(ViewPart.self, from: Data(try reader.blob()))
            let schema = try reader.blob()
            view?.schema?.body = schema
        }
        generation = try reader.number()
        after = try reader.downloadCursor()
        download = try reader.downloadCursor()
        latest = try reader.version()
        upload = try reader.uploadCursor()
        downloadableBytes = try reader.number()
        entries = try reader.entries()
        try reader.finish()
    }
}
