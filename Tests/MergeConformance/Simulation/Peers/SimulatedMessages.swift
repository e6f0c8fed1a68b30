import Merge
import SyncModel

/// An UPLOAD on its way.
struct SimulatedUpload: Sendable {
    var header: UploadHeader
    var entries: [UploadEntry]
    var changesets: [[UInt8]]
}

/// A DOWNLOAD on its way.
struct SimulatedDownload: Sendable {
    var progress: SyncProgress
    var entries: [DownloadEntry] = []
    var changesets: [[UInt8]] = []
}

/// What exists only while a connection does: what was sent and not taken yet, and how far each side has got in sending.
struct SimulatedSession: Sendable {
    var uploads: [SimulatedUpload] = []
    var downloads: [SimulatedDownload] = []
    /// How far the client has scanned its history.
    var uploadCursor: UploadCursor
    /// How far the server has sent its history.
    var downloadServerVersion: UInt64
    var downloadClientVersion: UInt64

    /// A session of a client that stands there.
    init(_ progress: SyncProgress) {
        uploadCursor = UploadCursor(
            clientVersion: progress.uploadClientVersion, serverVersion: progress.uploadServerVersion)
        downloadServerVersion = progress.downloadServerVersion
        downloadClientVersion = progress.downloadClientVersion
    }
}
