import SyncModel
import SyncProtocol
import Synchronization

/// Consecutive versions of a realm on their way to its sessions, with what they come to for each.
///
/// Sessions that wrote nothing of them and stand at the same client version are sent the same entries: these are picked,
/// encoded and compressed once, by whichever session comes first.
final class SharedVersions: Sendable {
    struct View: Sendable {
        /// Others' changesets.
        var entries: [HistoryEntry] = []
        /// The receiver's newest version integrated up to the end.
        var clientVersion: ClientVersion
        /// The entries, encoded; nil if only this receiver gets them so.
        var packed: PackedEntries?
    }

    private struct Views {
        var byVersion: [ClientVersion: View] = [:]
        var bytes = 0
    }

    /// Views kept; sessions beyond make theirs for themselves.
    static let maxViews = 16

    let entries: [HistoryEntry]
    /// The bytes of the versions, and the most that the views kept take.
    let bytes: Int
    private let authors: Set<FileIdent>
    private let views = Mutex(Views())

    init(_ entries: [HistoryEntry]) {
        self.entries = entries
        bytes = Self.bytes(of: entries)
        authors = Set(entries.lazy.map(\.originFile))
    }

    /// The bytes that the views kept take.
    var viewBytes: Int { views.withLock(\.bytes) }

    static func bytes(of entries: some Sequence<HistoryEntry>) -> Int {
        entries.reduce(0) { $0 + $1.changeset.count + 64 }
    }

    /// The part for a client realm that has `clientVersion` of its own history integrated before the versions.
    func view(for clientFile: FileIdent, at clientVersion: ClientVersion) -> View {
        guard !authors.contains(clientFile) else { return make(for: clientFile, at: clientVersion) }
        if let view = views.withLock({ $0.byVersion[clientVersion] }) { return view }
        // Not under the lock: two sessions may do the same work at the same time, but none waits for another's.
        var view = make(for: clientFile, at: clientVersion)
        if !view.entries.isEmpty { view.packed = try? PackedEntries(view.entries) }
        let taken = view.entries.count * 64 + (view.packed?.bytes ?? 0)
        views.withLock { [view] views in
            // A view is kept beside the first if all of them take no more than the versions do.
            guard views.byVersion.isEmpty || views.bytes + taken <= bytes, views.byVersion.count < Self.maxViews,
                views.byVersion.updateValue(view, forKey: clientVersion) == nil
            else { return }
            views.bytes += taken
        }
        return view
    }

    private func make(for clientFile: FileIdent, at clientVersion: ClientVersion) -> View {
        var view = View(clientVersion: clientVersion)
        view.entries.reserveCapacity(entries.count)
        for entry in entries {
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
