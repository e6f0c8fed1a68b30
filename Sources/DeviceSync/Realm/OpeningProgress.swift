internal import Synchronization

/// How far the download of an opening is, for whoever wants to hear of it before there is a realm.
final class OpeningProgress: Sendable {
    private struct Contents {
        var session: SyncSession?
        var waiting: [@Sendable (SyncSession.Progress) -> Void] = []
        var tokens: [NotificationToken] = []
    }
    private let contents = Mutex(Contents())

    /// The realm's session downloads from now on.
    func begin(_ session: SyncSession?) {
        guard let session else { return }
        let waiting = contents.withLock { contents in
            contents.session = session
            defer { contents.waiting = [] }
            return contents.waiting
        }
        for block in waiting { add(session, block) }
    }

    func add(_ block: @escaping @Sendable (SyncSession.Progress) -> Void) {
        let session = contents.withLock { contents in
            if contents.session == nil { contents.waiting.append(block) }
            return contents.session
        }
        if let session { add(session, block) }
    }

    private func add(_ session: SyncSession, _ block: @escaping @Sendable (SyncSession.Progress) -> Void) {
        let token = session.addProgressNotification(
            for: .download, mode: .forCurrentlyOutstandingWork, block: block)
        contents.withLock { if let token { $0.tokens.append(token) } }
    }
}
