import Messages
import SyncModel
import SyncProtocol
import Synchronization

/// A notice on its way to all sessions of its realm, with what it comes to for them.
///
/// Sessions that wrote nothing of it and stand at the same client version are sent the same entries: these are picked,
/// encoded and compressed once, by whichever session comes first.
final class FannedNotice: Sendable {
    struct View: Sendable {
        /// Others' changesets.
        var entries: [HistoryEntry] = []
        /// The receiver's newest version integrated up to the notice's end.
        var clientVersion: ClientVersion
        /// The entries, encoded; nil if only this receiver gets them so.
        var packed: PackedEntries?
    }

    /// Views kept; sessions beyond make theirs for themselves.
    static let maxViews = 16

    let notice: IntegratedNotice
    /// What it counts in a mailbox.
    let bytes: Int
    /// The acknowledgements by client file: every session of the realm looks for its own.
    let acknowledgements: [FileIdent: UploadCursor]
    private let authors: Set<FileIdent>
    private let views = Mutex<[ClientVersion: View]>([:])

    init(_ notice: IntegratedNotice) {
        self.notice = notice
        bytes = notice.entries.reduce(128) { $0 + $1.changeset.count + 64 } + (notice.objects?.bytes ?? 0)
        acknowledgements = Dictionary(
            notice.acknowledgements.lazy.map { ($0.clientFile, $0.upload) }, uniquingKeysWith: { first, _ in first })
        authors = Set(notice.entries.lazy.map(\.originFile))
    }

    /// What a client realm gets that has `clientVersion` of its own history integrated before the notice.
    func view(for clientFile: FileIdent, at clientVersion: ClientVersion) -> View {
        guard !authors.contains(clientFile) else { return make(for: clientFile, at: clientVersion) }
        if let view = views.withLock({ $0[clientVersion] }) { return view }
        // Not under the lock: two sessions may do the same work at the same time, but none waits for another's.
        var view = make(for: clientFile, at: clientVersion)
        if !view.entries.isEmpty { view.packed = try? PackedEntries(view.entries) }
        views.withLock { [view] views in
            if views.count < Self.maxViews { views[clientVersion] = view }
        }
        return view
    }

    private func make(for clientFile: FileIdent, at clientVersion: ClientVersion) -> View {
        var view = View(clientVersion: clientVersion)
        view.entries.reserveCapacity(notice.entries.count)
        for entry in notice.entries {
            if entry.originFile == clientFile {
                view.clientVersion = max(view.clientVersion, entry.clientVersion)
            } else if !entry.changeset.isEmpty {
                var received = entry
                received.clientVersion = view.clientVersion
                view.entries.append(received)
            }
        }
        return view
    }
}
