import Messages
import SyncModel
import SyncProtocol

// Pages, notices, MARKs: everything that ends in a DOWNLOAD.
extension GatewaySession {
    mutating func wantPage() {
        if paging == .none { paging = .wanted(since: environment.now) }
    }

    /// Whether the client is to hear of its own uploads before it is sent what others have written.
    private var isHeldBack: Bool {
        sent != nil && subscriptions == nil && heldRefusal == nil && uploads.isBulky(at: environment.now)
    }

    /// Asks for the page after the session's position, one at a time, once the socket has drained.
    mutating func askForPage() {
        guard phase == .live, case .wanted = paging, environment.isLinkUp, !environment.isCongested, !isHeldBack,
            let clientFile
        else { return }
        paging = .asked
        let bootstrap = subscriptions?.nextRequest()
        // A client that has asked for a set counts on the answer to its next MARK for the set's data.
        if bootstrap == nil, subscriptions?.isWaiting != true { marks.ask() }
        actions.append(
            .page(
                PageRequest(
                    context: requestContext, clientFile: clientFile.ident, generation: generation,
                    after: progress.download, maxBytes: context.limits.pageBytes,
                    isMark: bootstrap == nil && marks.tellsOwner, bootstrap: bootstrap),
                recent: mayCatchUp && !marks.needsOwner
                    ? RecentPosition(
                        generation: generation,
                        server: .init(version: progress.download.serverVersion, salt: progress.latest.salt)) : nil))
    }

    mutating func receive(_ page: PageAnswer) {
        guard phase == .live, paging == .asked else { return }
        paging = .none
        defer { askAgain() }
        guard page.generation == generation, page.after == progress.download,
            page.download.serverVersion >= progress.download.serverVersion
        else { return wantPage() }
        if let part = page.view?.bootstrap { return receive(page, part) }
        progress.download = page.download
        progress.latest.salt = page.latest.salt
        acknowledge(page.upload)
        let entries = page.entries
        let isComplete = page.isComplete
        let undone = page.view?.compensations.filter { $0.isIngest != true } ?? []
        let mustSend =
            !entries.isEmpty || !undone.isEmpty || (isComplete && (sent == nil || uploads.owesAcknowledgement))
        marks.hear(latest: page.latest.version, isComplete: isComplete)
        if mustSend { download(entries, downloadableBytes: page.downloadableBytes, undoing: undone) }
        guard !failForIngests(page.view?.compensations ?? []) else { return }
        // Bases hold the server's changesets alone (docs/internals.md, "How a history is compacted").
        if subscriptions == nil, isComplete || entries.last.map({ $0.originFile != .server }) ?? false {
            mayCatchUp = true
        }
        guard isComplete else { return wantPage() }
        if subscriptions != nil { cameUp() }
        if marks.isOpen || subscriptions?.isWaiting == true || heardOf > progress.download.serverVersion {
            wantPage()
        }
    }

    /// Answers the MARK that has come to its end. The client hears first where it stands.
    mutating func answerMarks() {
        // Nothing comes between the messages of a set's data.
        guard phase == .live, sent != nil, subscriptions?.isWaiting != true,
            let mark = marks.answer(at: progress.download.serverVersion)
        else { return }
        if sent != progress { download([], downloadableBytes: 0) }
        actions.append(.send(.mark(session: session, request: mark)))
        if marks.isOpen || marks.tellsOwner { wantPage() }
    }

    private mutating func askAgain() {
        guard mustAskAgain else { return }
        mustAskAgain = false
        wantPage()
    }

    /// Passes versions on that came with earlier notices, while the session could not be told.
    mutating func recent(_ stretch: RecentStretch) {
        guard phase == .live, paging == .asked, let clientFile else { return }
        paging = .none
        defer { askAgain() }
        guard stretch.follows == progress.download.serverVersion else { return wantPage() }
        pass(
            stretch.versions.view(for: clientFile.ident, at: progress.download.clientVersion),
            upTo: SaltedServerVersion(version: stretch.latest, salt: progress.latest.salt),
            downloadableBytes: UInt64(stretch.bytesBehind))
        if marks.isOpen || marks.tellsOwner || heardOf > progress.download.serverVersion { wantPage() }
    }

    mutating func integrated(_ fanned: FannedNotice) {
        guard let file = hear(fanned) else { return }
        let notice = fanned.notice
        guard notice.follows == progress.download.serverVersion, !environment.isCongested, !isHeldBack,
            notice.entries.last?.serverVersion == notice.latest.version
        else { return wantPage() }
        pass(fanned.versions.view(for: file, at: progress.download.clientVersion), upTo: notice.latest)
    }

    /// Takes from a notice what does not depend on what it brings.
    ///
    /// - Returns: the session's client file; nil if the notice brings the client nothing.
    mutating func hear(_ fanned: FannedNotice) -> FileIdent? {
        let notice = fanned.notice
        guard phase == .live, let clientFile, notice.generation == generation else { return nil }
        let wasHeldBack = isHeldBack
        if let own = fanned.acknowledgements[clientFile.ident] { acknowledge(own) }
        heardOf = max(heardOf, notice.latest.version)
        // While a page is under way its answer covers this, or another page will.
        guard paging == .none else {
            if wasHeldBack, !isHeldBack, wantsPage { download([], downloadableBytes: 0) }
            return nil
        }
        guard notice.latest.version > progress.download.serverVersion else {
            if uploads.owesAcknowledgement { download([], downloadableBytes: 0) }
            return nil
        }
        return clientFile.ident
    }

    /// Passes on what a notice comes to for the client.
    mutating func pass(
        _ view: SharedVersions.View, upTo latest: SaltedServerVersion, downloadableBytes: UInt64 = 0
    ) {
        progress.download = DownloadCursor(
            serverVersion: latest.version, clientVersion: max(progress.download.clientVersion, view.clientVersion))
        progress.latest.salt = latest.salt
        if !view.entries.isEmpty || uploads.owesAcknowledgement {
            download(view.entries, packed: view.packed, downloadableBytes: downloadableBytes)
        }
    }

    /// Notices were dropped. A page that was asked for before may not cover them.
    mutating func missed() {
        guard phase == .live else { return }
        // Only the owner can say what an acknowledgement would have said.
        mayCatchUp = false
        if paging == .asked { mustAskAgain = true }
        wantPage()
    }

    mutating func acknowledge(_ cursor: UploadCursor) {
        guard cursor.clientVersion >= progress.upload.clientVersion else { return }
        progress.upload = cursor
        uploads.acknowledged(upTo: cursor.clientVersion)
    }

    /// - Parameter undone: writes of the client that the entries undo.
    mutating func download(
        _ entries: [HistoryEntry], packed: PackedEntries? = nil, downloadableBytes: UInt64,
        undoing undone: [CompensationNotice] = []
    ) {
        guard let subscriptions else {
            return send(entries, packed: packed, .partition(downloadableBytes: downloadableBytes))
        }
        guard let whole = subscriptions.bootstrap(of: entries, protocolVersion: context.protocolVersion) else {
            if packed == nil, undone.isEmpty { return sendSteadily(entries, subscriptions) }
            // What the errors announce has to come with an entry.
            let entries = entries.isEmpty && !undone.isEmpty ? [nothing] : entries
            tell(undone, of: entries.last?.serverVersion ?? 0)
            return send(entries, packed: packed, .flexible(subscriptions.steadyState))
        }
        send(entries, packed: packed, .flexible(whole))
        tellAfterBootstrap(undone)
    }

    /// Sends what a client may stop in anywhere, if it is much in several messages: so it can show how far it is, and has what it has if its connection
    /// is lost in between.
    private mutating func sendSteadily(_ entries: [HistoryEntry], _ subscriptions: FlexibleSubscriptions) {
        let end = progress.download
        var batch = subscriptions.steadyState
        guard !entries.contains(where: { $0.originFile == .server }) else { return send(entries, .flexible(batch)) }
        let batches = entries.batchesOfWholeVersions(maxBytes: context.limits.pageBytes * 4)
        let bytes = max(1, entries.changesetBytes)
        var done = 0
        for entries in batches.dropLast() {
            guard let last = entries.last else { continue }
            done += entries.changesetBytes
            progress.download = DownloadCursor(serverVersion: last.serverVersion, clientVersion: last.clientVersion)
            batch.progress = Double(done) / Double(bytes)
            send(entries, .flexible(batch))
        }
        progress.download = end
        send(batches.last ?? [], .flexible(subscriptions.steadyState))
    }

    mutating func send(_ entries: [HistoryEntry], packed: PackedEntries? = nil, _ detail: DownloadDetail) {
        // A client that is reset goes on from the latest version that its fresh copy has heard of, not from the one that the copy has come to, and may
        // close the copy behind any message: so none names a version beyond its own.
        progress.latest.version = max(progress.latest.version, progress.download.serverVersion)
        sent = progress
        sentAt = environment.now
        uploads.acknowledgementSent()
        let message = Download(session: session, progress: progress, detail: detail, entries: entries)
        actions.append(packed.map { .sendPacked(message, $0) } ?? .send(.download(message)))
    }
}
