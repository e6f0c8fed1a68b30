import Messages
import SyncModel

/// A notice on its way to all sessions of its realm.
final class FannedNotice: Sendable {
    /// The bytes of versions up to which a notice holds them itself.
    static let maxBytes = 256 << 10

    /// The notice; without its versions if they are many: sessions take them as a page from `RecentVersions`.
    let notice: IntegratedNotice
    /// The bytes that the notice counts in a mailbox.
    let bytes: Int
    /// The acknowledgements by client file: every session of the realm looks for its own.
    let acknowledgements: [FileIdent: UploadCursor]
    let versions: SharedVersions

    init(_ notice: IntegratedNotice) {
        var notice = notice
        if notice.objects == nil, SharedVersions.bytes(of: notice.entries) > Self.maxBytes { notice.entries = [] }
        self.notice = notice
        versions = SharedVersions(notice.entries)
        bytes = 128 + versions.bytes + (notice.objects?.bytes ?? 0)
        acknowledgements = Dictionary(
            notice.acknowledgements.lazy.map { ($0.clientFile, $0.upload) }, uniquingKeysWith: { first, _ in first })
    }
}
