import Merge
import Storage
import SyncModel

/// The digests of the versions that are being appended to a history.
///
/// The last one stays open and is written again with each commit until it is worth a row of its own, so that many small
/// commits do not leave many small rows.
struct DigestWriter {
    /// An open digest is closed when it has as many bytes after a commit, or ...
    private static let closingBytes = 4 << 10
    /// ... as many within one.
    private static let maxBytes = 64 << 10

    let key: HistoryKey
    private var closed: [HistoryDigest] = []
    private var open: HistoryDigest
    private var isDirty = false

    init(key: HistoryKey, after latest: ServerVersion) {
        self.key = key
        open = HistoryDigest(key: key, after: latest, through: latest, body: [])
    }

    /// Appends the version that follows.
    mutating func append(origin: FileIdent, _ touches: Touches) {
        if open.body.count >= Self.maxBytes {
            closed.append(open)
            begin()
        }
        DigestCoding.append(origin: origin, touches, to: &open.body)
        open.through &+= 1
        isDirty = true
    }

    /// What the next commit has to write.
    mutating func take() -> [HistoryDigest] {
        guard isDirty else { return [] }
        let digests = closed + [open]
        closed = []
        isDirty = false
        if open.body.count >= Self.closingBytes { begin() }
        return digests
    }

    private mutating func begin() {
        open = HistoryDigest(key: key, after: open.through, through: open.through, body: [])
    }
}
