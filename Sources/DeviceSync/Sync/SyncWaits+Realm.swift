import SyncModel
internal import SyncProtocol

/// What those who wait on a realm are told of its uploads and downloads.
extension SyncWaits {
    /// Reports how much is still to be uploaded.
    mutating func reportUploads(of core: RealmCore) {
        let cursor = core.sync.progress.upload.clientVersion
        uploaded { version in
            try? core.file.read { try HistoryRows($0).uploadableBytes(after: cursor, upTo: version) }
        }
    }

    /// Ends the waits for what is uploaded.
    mutating func finishUploads(of core: RealmCore) {
        guard hasUploads else { return }
        finishUploads { (try? core.isUploaded(upTo: $0)) ?? false }
    }

    /// Reports what a DOWNLOAD has brought.
    mutating func downloaded(_ download: Download) {
        let bytes = download.entries.reduce(0) { $0 + $1.changeset.count }
        guard let batch = download.batch else {
            return downloaded(bytes, left: Int(clamping: download.downloadableBytes ?? 0))
        }
        // Set 0 is the schema.
        if batch.queryVersion > 0 { downloaded(bytes, share: batch.progress) }
    }
}
