import Messages
import SyncModel
import SyncProtocol
import Views

// Pages of subscription sets' data, what was undone of the client's writes, and notices of what concerns the client's view.
extension GatewaySession {
    /// The session has everything up to its position, under the set in force.
    mutating func cameUp() {
        guard let clientFile, let active = subscriptions?.identified else { return }
        subscriptions?.cameUp()
        actions.append(
            .follow(
                Following(
                    clientFile: clientFile.ident,
                    definition: active, schemaVersion: schemaVersion,
                    version: progress.download.serverVersion, generation: generation)))
    }

    mutating func refuse(_ set: QueryVersion, _ reason: String) {
        actions.append(.send(.queryError(QueryError(session: session, queryVersion: set, message: reason))))
    }

    /// The gateway has heard of a version.
    mutating func heard(of version: ServerVersion) {
        heardOf = max(heardOf, version)
        if phase == .live, paging == .none, heardOf > progress.download.serverVersion { wantPage() }
    }

    mutating func viewed(_ viewed: ViewedNotice) {
        guard let file = hear(viewed.fanned) else { return }
        let notice = viewed.fanned.notice
        // Nothing between where the session stands and where the notice begins concerns it.
        if viewed.isFollowed {
            progress.download.serverVersion = max(progress.download.serverVersion, notice.follows)
        }
        guard notice.follows == progress.download.serverVersion, !environment.isCongested,
            let part = viewed.part(for: file, at: progress.download.clientVersion)
        else { return wantPage() }
        pass(part, upTo: notice.latest)
    }

    /// Moves the cursor of a client that nothing has concerned for a while: the history that it has passed can be compacted, and its uploads are
    /// based on what it knows.
    mutating func stands(at latest: SaltedServerVersion) {
        guard phase == .live, paging == .none, latest.version > progress.download.serverVersion else { return }
        heardOf = max(heardOf, latest.version)
        progress.download.serverVersion = latest.version
        progress.latest.salt = latest.salt
        if environment.now >= sentAt &+ context.limits.idleProgress { download([], downloadableBytes: 0) }
    }

    mutating func receive(_ page: PageAnswer, _ part: BootstrapPart) {
        guard var bootstrap = subscriptions?.bootstrap, bootstrap.set.version.rawValue == part.version else {
            return wantPage()
        }
        defer { wantPage() }
        bootstrap.isAsked = false
        switch part.outcome {
        case .behind where bootstrap.sent > 0, .begunElsewhere:
            fail(
                .sessionClosed, .transient,
                "the data of subscription set \(bootstrap.set.version) is sent from its beginning")
        case .behind:
            bootstrap.isBehind = true
            bootstrap.position = nil
            subscriptions?.bootstrap = bootstrap
        case .refused
        where bootstrap.set.version == subscriptions?.active.version && part.passes != true
            && subscriptions?.hasNewerWish == true:
            // The owner cannot tell what the client has missed of its set, and the client wants another one.
            subscriptions?.bootstrap = nil
        case .refused(let reason) where bootstrap.set.version == subscriptions?.active.version:
            // Clients do not survive a QUERY_ERROR for the set that they have.
            if part.passes == true {
                fail(.otherSessionError, .transient, reason, backoff: .patient)
            } else {
                fail(.badQuery, .applicationBug, reason)
            }
        case .refused(let reason):
            subscriptions?.refused()
            refuse(bootstrap.set.version, reason)
        case .more(let position):
            bootstrap.progress = max(bootstrap.progress, part.progress)
            if let integrated = page.entries.last?.clientVersion, integrated > progress.download.clientVersion {
                // What a client that is far behind has missed comes as it is by now, with what was integrated of the client's own since.
                acknowledge(page.upload)
                progress.download.clientVersion = integrated
            }
            if !page.entries.isEmpty {
                send(page.entries, of: bootstrap.set, state: .moreToCome, progress: bootstrap.progress)
            }
            bootstrap.position = position
            bootstrap.sent += page.entries.count
            subscriptions?.bootstrap = bootstrap
        case .last: finish(bootstrap, with: page)
        }
    }

    private mutating func finish(_ bootstrap: FlexibleSubscriptions.Bootstrap, with page: PageAnswer) {
        progress.download = page.download
        progress.latest.salt = page.latest.salt
        var batches = page.entries.batches(maxBytes: context.limits.pageBytes * 4)
        var last = batches.popLast() ?? []
        if last.isEmpty, bootstrap.sent == 0 {
            // Clients do not survive one without any entry.
            last = [nothing]
        }
        acknowledge(page.upload)
        for batch in batches { send(batch, of: bootstrap.set, state: .moreToCome, progress: 0.9999) }
        send(last, of: bootstrap.set, state: .lastInBatch, progress: 1)
        subscriptions?.active = bootstrap.set
        subscriptions?.bootstrap = nil
        tellAfterBootstrap(page.view?.compensations.filter { $0.isIngest != true } ?? [])
        guard !failForIngests(page.view?.compensations ?? []) else { return }
        cameUp()
    }

    private mutating func send(
        _ entries: [HistoryEntry], of set: QuerySet, state: BatchState, progress: Double
    ) {
        send(entries, .flexible(FlexibleBatch(queryVersion: set.version, state: state, progress: progress)))
    }

    /// An entry that says nothing, where the session stands.
    var nothing: HistoryEntry {
        HistoryEntry(
            serverVersion: progress.download.serverVersion, clientVersion: progress.download.clientVersion,
            originFile: .server, timestamp: 0, changeset: [])
    }

    /// Tells the client which of its writes a bootstrap has undone. Clients wait for an entry in steady state of the version that the errors name
    /// before they pass the errors on, and do not survive one of a later version: so the errors come once the bootstrap is on its way, and
    /// such an entry behind them.
    mutating func tellAfterBootstrap(_ undone: [CompensationNotice]) {
        guard !undone.isEmpty, let steady = subscriptions?.steadyState else { return }
        tell(undone, of: progress.download.serverVersion)
        send([nothing], .flexible(steady))
    }

    /// Tells the client which of its writes are undone.
    ///
    /// - Parameter version: of the last entry of the DOWNLOAD that follows.
    mutating func tell(_ compensations: [CompensationNotice], of version: ServerVersion) {
        for compensation in compensations {
            let body = compensation.error(of: version)
            actions.append(.send(.jsonError(session: session, code: .compensatingWrite, body: body)))
        }
    }

    /// Tells the client, behind the acknowledgement of its upload, which of its writes to asymmetric classes do not count. At such an error a
    /// client leaves the session, and comes again.
    ///
    /// - Returns: whether the session has ended.
    mutating func failForIngests(_ notices: [CompensationNotice]) -> Bool {
        let refused = notices.filter { $0.isIngest == true }
        // Early builds of version 10 do not survive the error.
        guard let last = refused.last, context.protocolVersion > 10 else { return false }
        var body = JSONErrorBody(
            code: .writeNotAllowed,
            message:
                "Client attempted a write to an asymmetric class that is outside of permissions; it has been dropped",
            action: .warning, tryAgain: true)
        body.rejectedClientVersion = last.clientVersion
        body.rejectedUpdates = refused.flatMap(\.updates).map(\.rejected)
        phase = .ended
        actions.append(.send(.jsonError(session: session, code: .writeNotAllowed, body: body)))
        actions.append(.unsubscribe)
        return true
    }
}

extension CompensationNotice {
    fileprivate func error(of version: ServerVersion) -> JSONErrorBody {
        var body = JSONErrorBody(
            code: .compensatingWrite,
            message:
                "Client attempted a write that is outside of permissions or query filters; it has been reverted"
                + (updates.count > 1 ? " (\(updates.count.counted("object")))" : ""),
            action: .warning, tryAgain: true)
        body.rejectedClientVersion = clientVersion
        body.compensatingWriteServerVersion = version
        body.rejectedUpdates = updates.map(\.rejected)
        return body
    }
}

extension CompensationNotice.Update {
    fileprivate var rejected: RejectedUpdate {
        RejectedUpdate(
            table: className, primaryKey: RejectedUpdate.PrimaryKey(payload: key) ?? .null, reason: reason)
    }
}
