import Messages
import SyncModel
import SyncProtocol

// Pages of subscription sets' data, and what was undone of the client's writes.
extension GatewaySession {
    mutating func receive(_ page: PageAnswer, _ part: BootstrapPart) {
        guard var bootstrap = subscriptions?.bootstrap, bootstrap.set.version.rawValue == part.version else {
            return wantPage()
        }
        defer { wantPage() }
        switch part.outcome {
        case .behind:
            bootstrap.isBehind = true
            bootstrap.position = nil
            subscriptions?.bootstrap = bootstrap
        case .refused(let reason):
            subscriptions?.bootstrap = nil
            actions.append(
                .send(
                    .queryError(
                        QueryError(session: session, queryVersion: bootstrap.set.version, message: reason))))
        case .more(let position):
            if !page.entries.isEmpty {
                send(page.entries, of: bootstrap.set, state: .moreToCome, progress: part.progress)
            }
            bootstrap.position = position
            bootstrap.sent += page.entries.count
            subscriptions?.bootstrap = bootstrap
        case .last: finish(bootstrap, with: page)
        }
    }

    private mutating func finish(_ bootstrap: FlexibleSubscriptions.Bootstrap, with page: PageAnswer) {
        tell(page.view?.compensations ?? [])
        var batches = Self.batches(of: page.entries, maxBytes: context.limits.pageBytes * 4)
        var last = batches.popLast() ?? []
        if last.isEmpty, bootstrap.sent == 0 {
            // Clients do not survive one without any entry.
            last = [
                HistoryEntry(
                    serverVersion: page.download.serverVersion, clientVersion: page.download.clientVersion,
                    originFile: .server, timestamp: 0, changeset: [])
            ]
        }
        progress.download = page.download
        progress.latest = page.latest
        acknowledge(page.upload)
        for batch in batches { send(batch, of: bootstrap.set, state: .moreToCome, progress: 0.99) }
        send(last, of: bootstrap.set, state: .lastInBatch, progress: 1)
        subscriptions?.active = bootstrap.set
        subscriptions?.bootstrap = nil
    }

    private mutating func send(
        _ entries: [HistoryEntry], of set: QuerySet, state: BatchState, progress: Double
    ) {
        download(
            entries, downloadableBytes: 0,
            batch: FlexibleBatch(queryVersion: set.version, state: state, progress: progress))
    }

    private static func batches(of entries: [HistoryEntry], maxBytes: Int) -> [[HistoryEntry]] {
        var batches: [[HistoryEntry]] = []
        var bytes = 0
        for entry in entries {
            if batches.isEmpty || bytes + entry.changeset.count > maxBytes {
                batches.append([])
                bytes = 0
            }
            batches[batches.count - 1].append(entry)
            bytes += entry.changeset.count
        }
        return batches
    }

    /// Tells the client which of its writes are about to be undone.
    mutating func tell(_ compensations: [CompensationNotice]) {
        for compensation in compensations {
            let count = compensation.updates.count
            var body = JSONErrorBody(
                code: .compensatingWrite,
                message:
                    "Client attempted a write that is outside of permissions or query filters; it has been reverted"
                    + (count > 1 ? " (\(count) objects)" : ""),
                action: .warning, tryAgain: true)
            body.rejectedClientVersion = compensation.clientVersion
            body.compensatingWriteServerVersion = compensation.version
            body.rejectedUpdates = compensation.updates.map {
                RejectedUpdate(
                    table: $0.className, primaryKey: RejectedUpdate.PrimaryKey(payload: $0.key) ?? .null,
                    reason: $0.reason)
            }
            actions.append(.send(.jsonError(session: session, code: .compensatingWrite, body: body)))
        }
    }
}
