import Messages
import SyncModel
import SyncProtocol

// Pages, notices, MARKs: everything that ends in a DOWNLOAD.
extension GatewaySession {
    mutating func wantPage(_ environment: SessionEnvironment) {
        if paging == .none { paging = .wanted(since: environment.now) }
    }

    /// Asks for the page after the session's position, one at a time, once the socket has drained.
    mutating func askForPage(_ environment: SessionEnvironment, _ actions: inout [SessionAction]) {
        guard phase == .live, case .wanted = paging, environment.isLinkUp, !environment.isCongested, let clientFile
        else { return }
        paging = .asked
        if let mark = openMark {
            askedMark = max(askedMark ?? mark, mark)
            openMark = nil
        }
        actions.append(
            .page(
                PageRequest(
                    context: requestContext(environment), clientFile: clientFile.ident, generation: generation,
                    after: position, maxBytes: context.limits.pageBytes, isMark: askedMark != nil)))
    }

    mutating func receive(_ page: PageAnswer, _ environment: SessionEnvironment, _ actions: inout [SessionAction]) {
        guard phase == .live, paging == .asked else { return }
        paging = .none
        defer {
            if mustAskAgain {
                mustAskAgain = false
                wantPage(environment)
            }
        }
        guard page.generation == generation, page.after == position,
            page.download.serverVersion >= position.serverVersion
        else { return wantPage(environment) }
        position = page.download
        latest = page.latest
        acknowledge(page.upload)
        let entries = page.entries
        let isComplete = page.isComplete
        let mustSend = !entries.isEmpty || (isComplete && (sent == nil || uploads.owesAcknowledgement))
        let marked = isComplete ? askedMark : nil
        if mustSend || (marked != nil && !isUpToDate) {
            download(entries, downloadableBytes: page.downloadableBytes, &actions)
        }
        guard isComplete else { return wantPage(environment) }
        if let marked {
            actions.append(.send(.mark(session: session, request: marked)))
            askedMark = nil
        }
        if openMark != nil || heardOf > position.serverVersion { wantPage(environment) }
    }

    mutating func integrated(
        _ fanned: FannedNotice, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        let notice = fanned.notice
        guard phase == .live, let clientFile, notice.generation == generation else { return }
        if let own = fanned.acknowledgements[clientFile.ident] { acknowledge(own) }
        heardOf = max(heardOf, notice.latest.version)
        // While a page is under way its answer covers this, or another page will.
        guard paging == .none else { return }
        guard notice.latest.version > position.serverVersion else {
            if uploads.owesAcknowledgement { download([], downloadableBytes: 0, &actions) }
            return
        }
        guard notice.follows == position.serverVersion, !environment.isCongested,
            notice.entries.last?.serverVersion == notice.latest.version
        else { return wantPage(environment) }
        let view = fanned.view(for: clientFile.ident, at: position.clientVersion)
        position = DownloadCursor(
            serverVersion: notice.latest.version, clientVersion: max(position.clientVersion, view.clientVersion))
        latest = notice.latest
        if !view.entries.isEmpty || uploads.owesAcknowledgement {
            download(view.entries, packed: view.packed, downloadableBytes: 0, &actions)
        }
    }

    /// Notices were dropped. A page that was asked for before may not cover them.
    mutating func missed(_ environment: SessionEnvironment) {
        guard phase == .live else { return }
        if paging == .asked { mustAskAgain = true }
        wantPage(environment)
    }

    private mutating func acknowledge(_ cursor: UploadCursor) {
        guard cursor.clientVersion >= upload.clientVersion else { return }
        upload = cursor
        uploads.acknowledged(upTo: cursor.clientVersion)
    }

    /// Whether the last DOWNLOAD said everything that is known.
    private var isUpToDate: Bool { sent == progress }

    private var progress: SyncProgress {
        SyncProgress(download: position, latest: latest, upload: upload)
    }

    private mutating func download(
        _ entries: [HistoryEntry], packed: PackedEntries? = nil, downloadableBytes: UInt64,
        _ actions: inout [SessionAction]
    ) {
        let progress = progress
        sent = progress
        uploads.acknowledgementSent()
        let message = Download(
            session: session, progress: progress, detail: .partition(downloadableBytes: downloadableBytes),
            entries: entries)
        actions.append(packed.map { .sendPacked(message, $0) } ?? .send(.download(message)))
    }
}
